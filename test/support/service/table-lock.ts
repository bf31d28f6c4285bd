/** Holds calls in flight: a locked table blocks every query that reads it. */
import { connectTo, type TestDatabase } from "../database.ts";
import { until } from "../poll.ts";
import { watchProcesses } from "../process-list.ts";

/** A table lock. Declare it with `await using`, so that it is released if the test fails. */
export interface TableLock extends AsyncDisposable {
  /** The number of queries that wait to read the table. */
  queries(): Promise<number>;
  /** Waits until at least as many queries wait to read the table, or none if it is 0. */
  waitForQueries(count: number): Promise<void>;
  release(): Promise<void>;
}

/** Locks a table against reads. Every overview reads both tables, every breakdown `charges`. */
export async function lockTable(
  { url, name }: Pick<TestDatabase, "url" | "name">,
  table: "charges" | "payouts",
): Promise<TableLock> {
  const connection = await connectTo(url);
  const processes = await watchProcesses(name);
  let released: Promise<void> | undefined;
  const release = () => {
    released ??= connection.end().then(() => processes.close());
    return released;
  };
  await connection.query(`LOCK TABLES ${table} WRITE`);
  const queries = async () => (await processes.waiting(`FROM ${table}`)).length;
  return {
    queries,
    waitForQueries: (count) =>
      until(async () => (count === 0 ? (await queries()) === 0 : (await queries()) >= count)),
    release,
    [Symbol.asyncDispose]: release,
  };
}
