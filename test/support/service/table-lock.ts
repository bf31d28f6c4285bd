/** Holds calls in flight: a locked table blocks every query that reads it. */
import { connectTo, type TestDatabase } from "../database.ts";
import { until } from "../poll.ts";
import { watchProcesses } from "../process-list.ts";

/**
 * Locks a table against reads. Every overview reads both tables, every breakdown `charges`. Declare it with
 * `await using`, so that it is released if the test fails.
 */
export async function lockTable(
  { url, name }: Pick<TestDatabase, "url" | "name">,
  table: "charges" | "payouts",
) {
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
    /** The number of queries that wait to read the table. */
    queries,
    /** Waits until at least as many queries wait to read the table. */
    waitForQueries: (count: number) => until(async () => (await queries()) >= count),
    release,
    [Symbol.asyncDispose]: release,
  };
}
