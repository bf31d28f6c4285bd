/**
 * Looks at the database in the background, for readiness: whether new connections to it can be
 * made, whether its schema has all migrations of this version, and whether the account may run the
 * statements of the service. It uses connections and a schedule of its own, whatever the load.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseTarget } from "../config.ts";
import { refusedStatements, type Statements } from "../db/contract/rights.ts";
import { failureOf } from "../db/driver-error.ts";
import { pendingMigrations } from "../db/pending-migrations.ts";
import { CONNECT_TIMEOUT, createPool, tryConnect } from "../db/pool.ts";
import { withTimeout } from "../timeout.ts";
import type { Readiness } from "./readiness.ts";

/**
 * The times of the probe, in ms. Three failures in a row are noticed within 5 s if connections are refused, and
 * within 9 s if the database does not answer: an attempt then takes 2 s.
 */
const PROBE_TIMES = {
  /** From the start of a connection attempt to that of the next. */
  period: 3_000,
  /** The same after an attempt that failed. */
  retry: 1_000,
  /** The longest connection attempt. */
  connectTimeout: CONNECT_TIMEOUT,
  /** Between two looks at the schema. */
  schemaPeriod: 30_000,
  /** The longest look at the schema. */
  schemaTimeout: 5_000,
};
/** The most connections that it has at once: an attempt, and one that looks at the schema. */
export const PROBE_CONNECTIONS = 2;
/** The failed connection attempts in a row from which the database cannot be reached. */
const MAX_FAILED_ATTEMPTS = 3;

/** Where a probe connects, and what it sets. */
export interface ProbeParts {
  readonly url: DatabaseTarget;
  readonly readiness: Readiness;
  /** Those that the account must be able to run. */
  readonly statements: Statements;
  readonly times?: typeof PROBE_TIMES;
}

/** Starts a probe. Returns a function that stops it; it does not keep the process alive. */
export function startDatabaseProbe({
  url,
  readiness,
  statements,
  times = PROBE_TIMES,
}: ProbeParts): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const database = createPool(url, {
    readOnly: true,
    maxConnections: 1,
    connectTimeout: times.connectTimeout,
  });
  let failures = 0;

  /** Whether a new connection can be made, or the database answers that it has too many. */
  async function canConnect(): Promise<boolean> {
    try {
      await tryConnect(url, times.connectTimeout);
      return true;
    } catch (error) {
      return failureOf(error) === "full"; // not away: connections that are open still work
    }
  }

  async function checkDatabase(): Promise<void> {
    failures = (await canConnect()) ? 0 : failures + 1;
    if (signal.aborted) return;
    if (failures === 0) readiness.set("database", undefined);
    if (failures >= MAX_FAILED_ATTEMPTS) {
      readiness.set("database", "several connection attempts in a row failed");
    }
  }

  /** A schema that cannot be read is what it was when it was last read. */
  async function lookAtSchema(): Promise<void> {
    const problem = await withTimeout(problemOfSchema(), times.schemaTimeout);
    if (!signal.aborted) readiness.set("schema", problem);
  }

  async function problemOfSchema(): Promise<string | undefined> {
    const [next] = await pendingMigrations(database);
    if (next !== undefined) return `migrations are pending: ${next}`;
    const [refused] = await refusedStatements(database, statements);
    return refused && `the statement ${refused.statement} is refused: ${refused.reason}`;
  }

  async function run(): Promise<void> {
    let schemaAt = performance.now() + times.schemaPeriod;
    let startedAt = performance.now();
    while (!signal.aborted) {
      const next = startedAt + (failures > 0 ? times.retry : times.period);
      await sleep(Math.max(0, next - performance.now()), undefined, { signal, ref: false });
      startedAt = performance.now();
      await checkDatabase();
      if (failures === 0 && performance.now() >= schemaAt) {
        schemaAt = performance.now() + times.schemaPeriod;
        await lookAtSchema().catch(() => {});
      }
    }
  }

  run().catch(() => {}); // ends with the signal
  return async () => {
    stop.abort();
    await database.destroy();
  };
}
