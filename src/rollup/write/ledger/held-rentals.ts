/**
 * The rentals that a rollup holds, each with the end that it counts. A rental that is in this list is
 * covered whenever it is written again, as long as its end stays the same.
 */
import type { Knex } from "knex";
import { RENTAL_RAN, type RollupState, rentalCovered, rentalHeld } from "../../coverage.ts";
import { TABLES } from "../../tables.ts";
import { END } from "../../timeline.ts";
import { inBatches, rowsOf, type Version } from "../store.ts";
import type { Segment } from "./segment.ts";

/** A rental with an end. */
export interface HeldRental {
  readonly rental_id: string;
  readonly ended_at: string;
}

/** What is to be changed in the list. */
export interface HeldChange {
  readonly missing: readonly HeldRental[];
  readonly surplus: readonly HeldRental[];
}

const between = (column: string, to: string) =>
  `provider_id = ? AND ${column} >= ? AND ${column} ${to === END ? "<=" : "<"} ?`;

/** The covered rentals that start in a segment. */
export async function rentalsFrom(
  reader: Knex.Transaction,
  { provider, from, to }: Segment,
  { generation, watermark }: RollupState,
): Promise<HeldRental[]> {
  const [rows] = await reader.raw(
    `SELECT id AS rental_id, ended_at FROM rentals
     WHERE ${between("started_at", to)} AND ${rentalCovered("?", generation)}`,
    [provider, from, to, watermark, watermark],
  );
  return rows;
}

/** Compares the list with the covered rentals that end in segments. */
export async function compareHeld(
  reader: Knex.Transaction,
  segments: readonly Segment[],
  { generation, watermark }: RollupState,
): Promise<HeldChange> {
  if (segments.length === 0) return { missing: [], surplus: [] };
  const branches = segments.map(
    ({ to }) => `(SELECT 1 AS is_missing, id AS rental_id, ended_at FROM rentals
       WHERE ${between("ended_at", to)} AND ${rentalCovered("?", generation)}
         AND NOT ${rentalHeld(generation)})
     UNION ALL
     (SELECT 0, rental_id, ended_at FROM ${TABLES.rentals} AS held
       WHERE ${between("ended_at", to)} AND generation = ?
         AND (SELECT COUNT(*) FROM rentals
              WHERE provider_id = held.provider_id AND ended_at = held.ended_at
                AND id = held.rental_id AND ${RENTAL_RAN}) = 0)`,
  );
  const [rows]: (HeldRental & { readonly is_missing: number })[][] = await reader.raw(
    branches.join(" UNION ALL "),
    segments.flatMap(({ provider, from, to }) => [
      ...[provider, from, to, watermark, watermark],
      ...[provider, from, to, generation],
    ]),
  );
  const found = (isMissing: number) =>
    (rows ?? []).filter((row) => Number(row.is_missing) === isMissing);
  return { missing: found(1), surplus: found(0) };
}

/** Changes the list of the rentals that a version holds. */
export async function changeHeld(
  database: Knex.Transaction,
  version: Version,
  { missing, surplus }: HeldChange,
): Promise<void> {
  const { provider, generation } = version;
  for (const batch of inBatches(missing)) {
    await database.raw(
      `INSERT IGNORE INTO ${TABLES.rentals} (provider_id, generation, ended_at, rental_id)
       VALUES ${batch.map(() => "(?, ?, ?, ?)").join(", ")}`,
      batch.flatMap(({ ended_at, rental_id }) => [provider, generation, ended_at, rental_id]),
    );
  }
  for (const { ended_at, rental_id } of surplus) {
    await rowsOf(database, TABLES.rentals, version).where({ ended_at, rental_id }).del();
  }
}
