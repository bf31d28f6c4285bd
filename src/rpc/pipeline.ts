/**
 * The pipeline of every call, whatever its protocol: deadline, authentication, rate limit, admission and the
 * provider that is asked about here, then its run, and in the end its log line.
 */
import type { DescMethodUnary } from "@bufbuild/protobuf";
import type { Authenticate } from "../auth/authentication.ts";
import { checkPlatformCaller, type FindProvider, PROVIDER_HEADER } from "../auth/provider.ts";
import { ServiceError } from "../errors.ts";
import { NO_PROVIDER, shareOf } from "../handler.ts";
import { createCallLog } from "../telemetry/call-log.ts";
import type { Log } from "../telemetry/log.ts";
import type { CallMetrics } from "../telemetry/metrics/calls.ts";
import { type CallTrace, type TraceCall, within } from "../telemetry/traces/call-trace.ts";
import { type AdmissionLimits, createAdmission } from "./admission.ts";
import { askedOf } from "./asked.ts";
import type { AcceptedCall, IncomingCall, Rpc } from "./call.ts";
import { createOpenCall } from "./call-end.ts";
import { startDeadline } from "./deadline.ts";
import type { RateLimit } from "./rate-limit.ts";
import { createRun, type RunParts } from "./run.ts";

type Metadata = AcceptedCall["metadata"];
const NONE: Metadata = {};

/** What `createRpc` needs. */
interface RpcOptions<Methods extends Record<string, DescMethodUnary>> extends RunParts<Methods> {
  readonly authenticate: Authenticate;
  readonly findProvider: FindProvider;
  /** Whether an RPC is for service keys alone, and about no single provider; by default none is. */
  readonly isForPlatform?: (method: DescMethodUnary) => boolean;
  readonly log: Log;
  /** Returns the time in epoch ms; the system clock by default. */
  readonly clock?: () => number;
  /** The limits on concurrent calls. */
  readonly limits: AdmissionLimits;
  /** The longest a call may take, in ms. */
  readonly maxCall: number;
  /** The rate limit of each share; none by default. */
  readonly rateLimit?: RateLimit | undefined;
  /** Measures the calls; by default they are not measured. */
  readonly metrics?: CallMetrics | undefined;
  /** Traces the calls; by default they are not traced. */
  readonly traceCall?: TraceCall | undefined;
}

/** Creates the pipeline of a service. */
export function createRpc<Methods extends Record<string, DescMethodUnary>>(
  options: RpcOptions<Methods>,
): Rpc {
  const { authenticate, findProvider, rateLimit, maxCall, metrics, traceCall } = options;
  const { clock = Date.now, isForPlatform = () => false } = options;
  const admit = createAdmission(options.limits);
  const runCall = createRun(options);
  const openCall = createOpenCall(createCallLog(options.log), metrics);

  function accept(incoming: IncomingCall): Promise<AcceptedCall> {
    const trace = traceCall?.(incoming);
    metrics?.started();
    return within(trace, () => acceptTraced(incoming, trace));
  }

  async function acceptTraced(
    incoming: IncomingCall,
    trace: CallTrace | undefined,
  ): Promise<AcceptedCall> {
    const started = performance.now();
    const now = clock();
    const deadline = startDeadline(now, incoming.deadline, incoming.signal, maxCall);
    const { signal } = deadline;
    const { known, end, fail } = openCall(incoming, started, deadline, trace);
    try {
      const { address, method, protocol, credentials } = incoming;
      const caller = await authenticate(credentials, { address, signal, protocol }, now);
      known.key = caller;
      const share = shareOf(caller);
      const limits = rateLimit === undefined ? NONE : spend(rateLimit, share);
      signal.throwIfAborted();
      known.release = admit(share);
      const { xProviderId } = credentials;
      if (isForPlatform(method)) checkPlatformCaller(caller, xProviderId);
      else known.providerId = await findProvider(caller, xProviderId, signal);
      signal.throwIfAborted();
      const { providerId } = known;
      const isNamed = caller.kind === "service" && providerId !== undefined;
      const metadata = isNamed ? { ...limits, ...about(providerId) } : limits;

      // The message may never arrive: until `run`, the call ends at its deadline by itself.
      const abandon = () => fail(signal.reason);
      signal.addEventListener("abort", abandon, { once: true });
      return {
        signal,
        metadata,
        async run(decode) {
          signal.removeEventListener("abort", abandon);
          const decodeOnce = () => {
            const request = decode();
            known.asked = askedOf(method, request);
            return request;
          };
          const about = { providerId: providerId ?? NO_PROVIDER, share };
          const context = { caller: about, signal, deadline: deadline.at };
          const call = { method, context, decode: decodeOnce, trace };
          try {
            const { response, coalesced } = await within(trace, () => runCall(call));
            end(undefined, coalesced);
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

/** The headers that name the provider to a service key, and to caches. A provider never gets its number. */
function about(providerId: string): Metadata {
  return { [PROVIDER_HEADER]: providerId, vary: PROVIDER_HEADER };
}

/** Spends a request of the rate limit of a share. Throws `ServiceError("rateLimited")` beyond it. */
function spend(limit: RateLimit, share: string): Metadata {
  const { allowed, headers } = limit.consume(share);
  if (!allowed) throw new ServiceError("rateLimited", undefined, { metadata: headers });
  return headers;
}
