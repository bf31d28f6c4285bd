/**
 * The pipeline of every call, whatever its protocol: admission, authentication, decoding,
 * coalescing, deadline, log, in this order.
 */
import {
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Logger } from "pino";
import type { Authenticate } from "../auth/authentication.ts";
import type { Caller } from "../auth/caller.ts";
import { ServiceError } from "../errors.ts";
import type { Context } from "../revenue/context.ts";
import { logCall } from "../telemetry/call-log.ts";
import { ADMISSION_BOUNDS, type AdmissionBounds, createAdmission } from "./admission.ts";
import type { AcceptedCall, IncomingCall, Rpc } from "./call.ts";
import { createCoalescing } from "./coalescing.ts";
import { startDeadline } from "./deadline.ts";

/** The functions of a service, by the RPC's name in TypeScript: `getOverview`. */
export type Functions<Methods extends Record<string, DescMethodUnary>> = {
  readonly [Name in keyof Methods]: (
    request: MessageShape<Methods[Name]["input"]>,
    context: Context,
  ) => Promise<MessageShape<Methods[Name]["output"]>>;
};

type AnyFunction = (request: Message, context: Context) => Promise<Message>;

/** What a pipeline is made of. */
export interface RpcParts<Methods extends Record<string, DescMethodUnary>> {
  readonly service: { readonly method: Methods };
  readonly functions: Functions<Methods>;
  readonly authenticate: Authenticate;
  readonly log: Logger;
  readonly bounds?: AdmissionBounds;
  /** Tells the time in epoch ms; the machine's clock by default. */
  readonly clock?: () => number;
}

/** Joins a service's functions to what every call goes through. */
export function createRpc<Methods extends Record<string, DescMethodUnary>>({
  service,
  functions,
  authenticate,
  log,
  bounds = ADMISSION_BOUNDS,
  clock = Date.now,
}: RpcParts<Methods>): Rpc {
  const admission = createAdmission(bounds);
  const coalescing = createCoalescing();
  const byMethod = new Map<DescMethodUnary, AnyFunction>(
    Object.entries(service.method).map(([name, method]) => [method, functions[name] as never]),
  );

  async function run(
    { method }: IncomingCall,
    caller: Caller,
    signal: AbortSignal,
    decode: () => Message,
  ): Promise<Message> {
    const answer = byMethod.get(method);
    if (!answer) throw new Error(`no function for ${method}`);
    const request = decode();
    if (method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
      return answer(request, { caller, now: clock(), signal });
    }
    // The instant of a coalesced run is its start, which is after the arrival of all its calls.
    return coalescing.run(keyOf(caller, method, request), signal, (shared) =>
      answer(request, { caller, now: clock(), signal: shared }),
    );
  }

  async function accept(incoming: IncomingCall): Promise<AcceptedCall> {
    const began = performance.now();
    const now = clock();
    const deadline = startDeadline(now, incoming.deadline, incoming.signal);
    let providerId: string | undefined;
    let leave = () => {};
    let ended = false;
    const end = (error?: ServiceError) => {
      if (ended) return;
      ended = true;
      deadline.clear();
      leave();
      const milliseconds = performance.now() - began;
      logCall(log, { ...incoming, method: incoming.method.name, providerId, milliseconds, error });
    };
    const fail = (thrown: unknown): ServiceError => {
      const error = ServiceError.from(thrown);
      end(error);
      return error;
    };
    try {
      admission.enter();
      leave = () => admission.leave(undefined);
      deadline.signal.throwIfAborted();
      const caller = await authenticate(incoming.credentials, deadline.signal, now);
      providerId = caller.providerId;
      admission.enterFor(providerId);
      leave = () => admission.leave(providerId);
      return {
        signal: deadline.signal,
        async run(decode) {
          try {
            const response = await run(incoming, caller, deadline.signal, decode);
            end();
            return response;
          } catch (thrown) {
            throw fail(thrown);
          }
        },
        reject: end,
      };
    } catch (thrown) {
      throw fail(thrown);
    }
  }

  // The pipeline knows no types of messages; the method of the call ties them together.
  return { accept: accept as Rpc["accept"] };
}

/** The coalescing key: the same for calls of a provider that one answer is right for. */
function keyOf({ providerId }: Caller, { name, input }: DescMethodUnary, request: Message): string {
  return `${providerId} ${name} ${Buffer.from(toBinary(input, request)).toString("latin1")}`;
}
