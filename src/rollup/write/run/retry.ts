/** Which database errors a rollup run retries, and which concern a single provider. */
import pRetry, { type Options } from "p-retry";
import { type Failure, failureOf } from "../../../db/driver-error.ts";

/** Failures after which the same transaction may succeed. */
const TRANSIENT = new Set<Failure | undefined>(["lost", "busy", "full", "refused"]);

const RETRY: Options = { retries: 6, minTimeout: 100, maxTimeout: 5_000, randomize: true };

/** Retries work that fails with a transient error, with exponential backoff. */
export function withRetry<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, { ...RETRY, shouldRetry: ({ error }) => isTransient(error) });
}

/**
 * Whether a run that failed may succeed with new connections: they were lost, or lead to a node that cannot do the
 * work. The errors of single providers, of which `rollUp` makes an AggregateError, are none of these.
 */
export function needsNewConnections(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "KnexTimeoutError" || isTransient(error) || failureOf(error) === "node";
}

/**
 * SQLSTATE classes of errors that every provider would get: connection exception, invalid
 * authorization, and syntax error or access rule violation (a missing table, for example).
 */
const GLOBAL = /^(08|28|42)/;

/** Whether an error may concern a single provider, so that the run continues with the next one. */
export function isProviderSpecific(
  error: unknown,
): error is Error & { readonly sqlMessage?: string } {
  if (!(error instanceof Error)) return false;
  // Another session may have locked a row for long.
  const isLockWait = "code" in error && error.code === "ER_LOCK_WAIT_TIMEOUT";
  if (needsNewConnections(error) && !isLockWait) return false;
  return !("sqlState" in error && GLOBAL.test(String(error.sqlState)));
}

function isTransient(error: Error): boolean {
  return TRANSIENT.has(failureOf(error));
}
