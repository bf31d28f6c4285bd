/** Which database errors a rollup run retries, and which concern a single provider. */
import pRetry, { type Options } from "p-retry";
import { isLostConnection } from "../../../db/driver-error.ts";

/** Another session has locked a row for long. */
const LOCK_WAIT = "ER_LOCK_WAIT_TIMEOUT";

/** Errors, besides lost connections, after which the same transaction may succeed. */
const TRANSIENT = new Set([
  "ER_LOCK_DEADLOCK", // also a certification failure in Galera
  LOCK_WAIT,
  "ECONNREFUSED",
  "ER_TRANSACTION_ROLLBACK_DURING_COMMIT", // Group Replication: certification failed
]);

/**
 * Errors of a node that no longer accepts writes, or is not part of its cluster at the moment. Only
 * another connection may lead to another node.
 */
const WRONG_NODE = new Set([
  1290, // the server is running with --read-only
  1836, // the server is in read-only mode
  1047, // Galera: the node is not ready
  1053, // shutdown in progress
  3100, // Group Replication: the group does not accept the transaction
]);

const RETRY: Options = { retries: 6, minTimeout: 100, maxTimeout: 5_000, randomize: true };

/** Retries work that fails with a transient error, with exponential backoff. */
export function withRetry<T>(work: () => Promise<T>): Promise<T> {
  return pRetry(work, { ...RETRY, shouldRetry: ({ error }) => isTransient(error) });
}

/**
 * Whether a run that failed may succeed with new connections: they were lost, or lead to a node
 * that cannot do the work.
 */
export function needsNewConnections(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "KnexTimeoutError" || isTransient(error) || isWrongNode(error);
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
  if (needsNewConnections(error) && !isLockWait(error)) return false;
  return !("sqlState" in error && GLOBAL.test(String(error.sqlState)));
}

function isTransient(error: Error): boolean {
  return isLostConnection(error) || ("code" in error && TRANSIENT.has(String(error.code)));
}

function isLockWait(error: Error): boolean {
  return "code" in error && error.code === LOCK_WAIT;
}

function isWrongNode(error: Error): boolean {
  return "errno" in error && WRONG_NODE.has(Number(error.errno));
}
