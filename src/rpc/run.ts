/** The run of a call that was accepted: decoding, coalescing, handler, a turn for a large response. */
import {
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Answer, Caller, TimedContext } from "../handler.ts";
import { type CallTrace, within } from "../telemetry/traces/call-trace.ts";
import type { CallResponse } from "./call.ts";
import { createCoalescing } from "./coalescing.ts";
import { entriesOf, type WaitForTurn } from "./large-results.ts";

/** The handlers of a service, by the RPC's name in TypeScript: `getOverview`. */
export type Handlers<Methods extends Record<string, DescMethodUnary>> = {
  readonly [Name in keyof Methods]: (
    request: MessageShape<Methods[Name]["input"]>,
    context: TimedContext,
  ) => Promise<Answer<MessageShape<Methods[Name]["output"]>>>;
};

/** What runs calls. The RPCs may be those of several services. */
export interface RunParts<Methods extends Record<string, DescMethodUnary>> {
  readonly service: { readonly method: Methods };
  readonly handlers: Handlers<Methods>;
  /** Awaited before a response is handed over; by default there is no wait. */
  readonly waitForTurn?: WaitForTurn;
}

/** A call that was accepted. */
interface RunningCall {
  readonly method: DescMethodUnary;
  /** Its signal aborts at the call's deadline, or when the caller cancels. */
  readonly context: TimedContext;
  readonly decode: () => Message;
  readonly trace: CallTrace | undefined;
}

/** A response, and whether the run of another call answered. */
interface RunResult {
  readonly response: CallResponse;
  readonly coalesced: boolean;
}

type AnyHandler = (request: Message, context: TimedContext) => Promise<Answer<Message>>;

/** Creates the function that runs calls. It rejects with whatever fails. */
export function createRun<Methods extends Record<string, DescMethodUnary>>({
  service,
  handlers,
  waitForTurn = () => undefined,
}: RunParts<Methods>): (call: RunningCall) => Promise<RunResult> {
  const coalesce = createCoalescing();
  const handlerOf = new Map<DescMethodUnary, AnyHandler>(
    Object.entries(service.method).map(([name, method]) => [method, handlers[name] as never]),
  );

  return async ({ method, context, decode, trace }) => {
    const { caller, signal } = context;
    signal.throwIfAborted();
    const handler = handlerOf.get(method);
    if (!handler) throw new Error(`no handler for ${method}`);
    const request = decode();
    // No RPC has side effects, so any may be shared: `bindRoutes` (src/gateway/transcoding) refuses others.
    let started = false;
    const answer = await coalesce(coalescingKey(caller, method, request), signal, (signal) => {
      started = true;
      // The end of another call's run may be what starts this one.
      return within(trace, () => handler(request, { ...context, signal }));
    });
    const turn = waitForTurn(entriesOf(answer.message));
    if (turn !== undefined) {
      await turn;
      signal.throwIfAborted();
    }
    return { response: toResponse(answer), coalesced: !started };
  };
}

function toResponse({ message, asOf, metadata }: Answer<Message>): CallResponse {
  return { message, metadata: { "data-as-of": new Date(asOf).toISOString(), ...metadata } };
}

/** Calls with the same key may share one response: same share, provider, RPC and request. */
function coalescingKey(
  { share, providerId }: Caller,
  { parent, name, input }: DescMethodUnary,
  request: Message,
): string {
  // Unknown fields change no answer.
  const bytes = toBinary(input, request, { writeUnknownFields: false });
  return `${share} ${providerId} ${parent.typeName}/${name} ${Buffer.from(bytes).toString("latin1")}`;
}
