/**
 * Whether a rollup that is missing should be there. Small providers have none, and a run comes a while after one has
 * grown, so the database is asked what runs ask: at a watermark that is as old as that of a rollup that is behind.
 */
import type { Query } from "../../db/query.ts";
import { NOW } from "../../db/sql-time.ts";
import { compileStatement } from "../../db/statement.ts";
import { type Counted, MIN_ROWS, recordedRows } from "../size.ts";
import { MAX_LAG } from "./lag-log.ts";

const PAST = `${NOW} - INTERVAL ${MAX_LAG / 1_000} SECOND`;
const upToMinimum = (table: Counted) => ({
  select: { rows: "COUNT(*)" },
  from: `(SELECT 1 FROM ${recordedRows(table, ":provider", PAST)} LIMIT ${MIN_ROWS}) AS counted`,
});

/** Counts the rows that a run of half an hour ago counted, up to as many as it takes for a rollup. */
export const sizeStatement = compileStatement(
  { charges: upToMinimum("charges"), rentals: upToMinimum("rentals") },
  "size",
);

/** Whether a provider without a rollup should have one. Rejects as `query` does. */
export async function missesRollup(query: Query, provider: string): Promise<boolean> {
  const { rows } = await sizeStatement.run(query, { provider });
  return [...rows.charges, ...rows.rentals].some((counted) => Number(counted.rows) >= MIN_ROWS);
}
