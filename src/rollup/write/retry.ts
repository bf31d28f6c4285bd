/** Which database errors a rollup run retries, and which concern a single provider. */
import pRetry, { type Options } from "p-retry";
import { isLostConnection } from "../../db/driver-error.ts";

/** Errors, besides lost connections, after which the same transaction may succeed. */
const TRANSIENT = new Set([
  "ER_LOCK_DEADLOCK", // also a certification failure in Galera
  "ER_LOCK_WAIT_TIMEOUT",
  "ECONNREFUSED",
]);

const RETRY: Options = {
  retries: 6,
  minTimeout: 100,
  maxTimeout: 5_000,
  randomize: true,
  shouldRetry: ({ error }) => isTransient(error),
};

/** Retries work that fails with a transient error, with exponential backoff. */
export function withRetry<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, RETRY);
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
  if (!(error instanceof Error) || isTransient(error)) return false;
  if (error.name === "KnexTimeoutError") return false;
  return !("sqlState" in error && GLOBAL.test(String(error.sqlState)));
}

function isTransient(error: Error): boolean {
  return isLostConnection(error) || ("code" in error && TRANSIENT.has(String(error.code)));
}
