/**
 * The pipeline of every call, whatever its protocol: deadline, authentication, rate limit, admission,
 * decoding, coalescing, handler, log.
 */
import {
  type DescMethodUnary,
  type Message,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { Authenticate } from "../auth/authentication.ts";
import { ServiceError } from "../errors.ts";
import type { Answer, Caller, Context } from "../handler.ts";
import { createCallLog } from "../telemetry/call-log.ts";
import type { Log } from "../telemetry/log.ts";
import type { CallMetrics } from "../telemetry/metrics/calls.ts";
import { type CallTrace, type TraceCall, traceIdOf } from "../telemetry/traces/call-trace.ts";
import { type AdmissionLimits, createAdmission } from "./admission.ts";
import type { AcceptedCall, CallResponse, IncomingCall, Rpc } from "./call.ts";
import { createCoalescing } from "./coalescing.ts";
import { type Deadline, startDeadline } from "./deadline.ts";
import { entriesOf, type WaitForTurn } from "./large-results.ts";
import type { RateLimit } from "./rate-limit.ts";

/** The handlers of a service, by the RPC's name in TypeScript: `getOverview`. */
export type Handlers<Methods extends Record<string, DescMethodUnary>> = {
  readonly [Name in keyof Methods]: (
    request: MessageShape<Methods[Name]["input"]>,
    context: Context,
  ) => Promise<Answer<MessageShape<Methods[Name]["output"]>>>;
};

type Metadata = AcceptedCall["metadata"];
const NONE: Metadata = {};

type AnyHandler = (request: Message, context: Context) => Promise<Answer<Message>>;

/** What `createRpc` needs. */
interface RpcOptions<Methods extends Record<string, DescMethodUnary>> {
  readonly service: { readonly method: Methods };
  readonly handlers: Handlers<Methods>;
  readonly authenticate: Authenticate;
  readonly log: Log;
  /** The limits on concurrent calls. */
  readonly limits: AdmissionLimits;
  /** The longest a call may take, in ms. */
  readonly maxCall: number;
  /** The rate limit per provider; none by default. */
  readonly rateLimit?: RateLimit | undefined;
  /** Awaited before a response is handed over; by default there is no wait. */
  readonly waitForTurn?: WaitForTurn;
  /** Measures the calls; by default they are not measured. */
  readonly metrics?: CallMetrics | undefined;
  /** Traces the calls; by default they are not traced. */
  readonly traceCall?: TraceCall | undefined;
  /** Returns the time in epoch ms; the system clock by default. */
  readonly clock?: () => number;
}

/** What telemetry records of a call while it runs. */
interface Observed {
  readonly trace: CallTrace | undefined;
  /** Whether the run of another call answered it. */
  coalesced: boolean;
}

/** Creates the pipeline of a service. */
export function createRpc<Methods extends Record<string, DescMethodUnary>>({
  service,
  handlers,
  authenticate,
  log,
  limits,
  maxCall,
  rateLimit,
  waitForTurn = () => undefined,
  metrics,
  traceCall,
  clock = Date.now,
}: RpcOptions<Methods>): Rpc {
  const admit = createAdmission(limits);
  const coalesce = createCoalescing();
  const logCall = createCallLog(log);
  const handlerOf = new Map<DescMethodUnary, AnyHandler>(
    Object.entries(service.method).map(([name, method]) => [method, handlers[name] as never]),
  );

  async function handle(
    { method }: IncomingCall,
    caller: Caller,
    { signal, deadline }: Deadline,
    decode: () => Message,
    observed: Observed,
  ): Promise<CallResponse> {
    signal.throwIfAborted();
    const handler = handlerOf.get(method);
    if (!handler) throw new Error(`no handler for ${method}`);
    const request = decode();
    // No RPC has side effects, so any may be shared: `bindRoutes` (src/gateway/transcoding) refuses others.
    // A coalesced run's `now` is its start, which is after the arrival of all its calls.
    const key = coalescingKey(caller, method, request);
    const { trace } = observed;
    let started = false;
    const answer = await coalesce(key, { signal, deadline }, (run) => {
      started = true;
      // The end of another call's run may be what starts this one.
      return within(trace, async () => {
        const made = await handler(request, { caller, now: clock(), ...run });
        trace?.made(made);
        return made;
      });
    });
    if (!started) trace?.answeredBy(answer);
    observed.coalesced = !started;
    const turn = waitForTurn(entriesOf(answer.message));
    if (turn !== undefined) {
      await turn;
      signal.throwIfAborted();
    }
    return toResponse(answer);
  }

  function spend(limit: RateLimit, providerId: string): Metadata {
    const { allowed, headers } = limit.consume(providerId);
    if (!allowed) throw new ServiceError("rateLimited", undefined, { metadata: headers });
    return headers;
  }

  function accept(incoming: IncomingCall): Promise<AcceptedCall> {
    const trace = traceCall?.(incoming);
    metrics?.started();
    return within(trace, () => acceptObserved(incoming, { trace, coalesced: false }));
  }

  async function acceptObserved(incoming: IncomingCall, observed: Observed): Promise<AcceptedCall> {
    const { trace } = observed;
    const started = performance.now();
    const now = clock();
    const deadline = startDeadline(now, incoming.deadline, incoming.signal, maxCall);
    const { signal } = deadline;
    let release = () => {};
    let providerId: string | undefined;
    let ended = false;

    const end = (error?: ServiceError) => {
      if (ended) return;
      ended = true;
      deadline.clear();
      release();
      const milliseconds = performance.now() - started;
      trace?.end(error);
      const record = {
        requestId: incoming.requestId,
        protocol: incoming.protocol,
        method: incoming.method.name,
        providerId,
        milliseconds,
        error,
        traceId: trace?.traceId ?? traceIdOf(incoming.trace),
        sampled: trace?.sampled ?? false,
        coalesced: observed.coalesced,
      };
      metrics?.ended(record);
      logCall(record);
    };
    const fail = (thrown: unknown): ServiceError => {
      const error = ServiceError.from(thrown);
      end(error);
      return error;
    };

    try {
      signal.throwIfAborted();
      const { address } = incoming;
      const caller = await authenticate(incoming.credentials, { address, signal }, now);
      providerId = caller.providerId;
      const metadata = rateLimit === undefined ? NONE : spend(rateLimit, providerId);
      signal.throwIfAborted();
      release = admit(providerId);

      // The message may never arrive: until `run`, the call ends at its deadline by itself.
      const abandon = () => fail(signal.reason);
      signal.addEventListener("abort", abandon, { once: true });
      return {
        signal,
        metadata,
        async run(decode) {
          signal.removeEventListener("abort", abandon);
          try {
            const response = await within(trace, () =>
              handle(incoming, caller, deadline, decode, observed),
            );
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

  // `accept` ignores message types; the method of the call relates request and response.
  return { accept: accept as Rpc["accept"] };
}

/** Runs work whose spans belong to a trace, if there is one. */
function within<T>(trace: CallTrace | undefined, work: () => T): T {
  return trace === undefined ? work() : trace.within(work);
}

function toResponse({ message, asOf }: Answer<Message>): CallResponse {
  return { message, metadata: { "data-as-of": new Date(asOf).toISOString() } };
}

/** Calls with the same key may share one response: same provider, RPC and request. */
function coalescingKey(
  { providerId }: Caller,
  { name, input }: DescMethodUnary,
  request: Message,
): string {
  // Unknown fields change no answer.
  const bytes = toBinary(input, request, { writeUnknownFields: false });
  return `${providerId} ${name} ${Buffer.from(bytes).toString("latin1")}`;
}
