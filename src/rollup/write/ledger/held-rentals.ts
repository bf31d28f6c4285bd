/**
 * The rentals that a rollup holds, each with the end that it counts. A rental that is in this list is
 * covered whenever it is written again, as long as its end stays the same.
 */
import type { Knex } from "knex";
import { RENTAL_RAN, type RollupState, rentalCovered, rentalHeld } from "../../coverage.ts";
import { TABLES } from "../../tables.ts";
import { END } from "../../timeline.ts";
import { inBatches, rowsOf, type Version } from "../store.ts";
import { readBranches } from "./branches.ts";
import type { Segment } from "./segment.ts";
import type { SegmentOf } from "./sums.ts";

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

/**
 * Compares the lists with the covered rentals that end in segments, in the order of the segments.
 * Segments of which rentals are not to be compared have no difference.
 */
export async function compareHeld(
  reader: Knex.Transaction,
  segments: readonly SegmentOf[],
): Promise<HeldChange[]> {
  const branches = segments.flatMap(({ provider, from, to, tables, generation, watermark }, nth) =>
    tables.includes("rentals")
      ? {
          sql: `(SELECT ${nth} AS segment, 1 AS is_missing, id AS rental_id, ended_at FROM rentals
              WHERE ${between("ended_at", to)} AND ${rentalCovered("?", generation)}
                AND NOT ${rentalHeld(generation)})
            UNION ALL
            (SELECT ${nth}, 0, rental_id, ended_at FROM ${TABLES.rentals} AS held
              WHERE ${between("ended_at", to)} AND generation = ?
                AND (SELECT COUNT(*) FROM rentals
                     WHERE provider_id = held.provider_id AND ended_at = held.ended_at
                       AND id = held.rental_id AND ${RENTAL_RAN}) = 0)`,
          bindings: [
            ...[provider, from, to, watermark, watermark],
            ...[provider, from, to, generation],
          ],
        }
      : [],
  );
  const rows = await readBranches<HeldRow>(reader, branches);
  const bySegment = Map.groupBy(rows, ({ segment }) => Number(segment));
  return segments.map((_, nth) => {
    const found = bySegment.get(nth) ?? [];
    const part = (isMissing: number) =>
      found.filter(({ is_missing }) => Number(is_missing) === isMissing);
    return { missing: part(1), surplus: part(0) };
  });
}

interface HeldRow extends HeldRental {
  readonly segment: string | number;
  readonly is_missing: string | number;
}

/** Changes the lists of the rentals that versions hold. */
export async function changeHeld(
  database: Knex.Transaction,
  changes: readonly (Version & HeldChange)[],
): Promise<void> {
  const rows = changes.flatMap(({ provider, generation, missing }) =>
    missing.map(({ ended_at, rental_id }) => [provider, generation, ended_at, rental_id]),
  );
  for (const batch of inBatches(rows)) {
    await database.raw(
      `INSERT IGNORE INTO ${TABLES.rentals} (provider_id, generation, ended_at, rental_id)
       VALUES ${batch.map(() => "(?, ?, ?, ?)").join(", ")}`,
      batch.flat(),
    );
  }
  for (const { surplus, ...version } of changes) {
    for (const { ended_at, rental_id } of surplus) {
      await rowsOf(database, TABLES.rentals, version).where({ ended_at, rental_id }).del();
    }
  }
}
