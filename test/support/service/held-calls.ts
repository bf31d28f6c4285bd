/** Calls that last: the table they read is locked until the test lets go of it. */
import { createConnection, type RowDataPacket } from "mysql2/promise";
import { onTestFinished } from "vitest";
import type { TestDatabase } from "../database.ts";
import { until } from "../poll.ts";

export interface Lock {
  /** Resolves when so many calls wait for the table, in so many milliseconds. */
  untilWaiting(count: number, patience?: number): Promise<void>;
  release(): Promise<void>;
}

/** Locks the charges: calls get as far as their question, and wait. */
export async function lockCharges({
  url,
  name,
}: Pick<TestDatabase, "url" | "name">): Promise<Lock> {
  const connection = await createConnection(url);
  const observer = await observe(url);
  onTestFinished(() => {
    connection.destroy();
    observer.destroy();
  });
  await connection.query("LOCK TABLES charges WRITE");
  return {
    untilWaiting: (count, patience = 3_000) =>
      until(patience, async () => {
        const [[row]] = await observer.query<RowDataPacket[]>(
          "SELECT COUNT(*) AS waiting FROM information_schema.processlist WHERE db = ? AND info LIKE '%FROM charges%'",
          [name],
        );
        return Number(row?.waiting) === count;
      }),
    async release() {
      await connection.end();
      await observer.end();
    },
  };
}

/** A connection that is in no database, so that it does not count among those of any. */
export function observe(url: string) {
  return createConnection(Object.assign(new URL(url), { pathname: "/" }).href);
}
