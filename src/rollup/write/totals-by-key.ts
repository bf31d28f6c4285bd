/** The totals that a rollup holds, by server and instance, and their arithmetic. */
import { parseCents } from "../../db/cents.ts";
import type { LedgerTable } from "../coverage.ts";

/** The totals of one server and instance. */
export interface Totals {
  /** The gross of the charges, in cents. */
  readonly gross: bigint;
  /** The number of charges. */
  readonly charges: number;
  /** The number of starts of covered rentals. */
  readonly started: number;
  /** The number of ends of covered rentals. */
  readonly ended: number;
}

/** Totals by `server/instance`; the instance is 0 for rows without one. Zero totals are omitted. */
export type TotalsByKey = ReadonlyMap<string, Totals>;

const ZERO: Totals = { gross: 0n, charges: 0, started: 0, ended: 0 };

/** A row of totals as the database returns it. A missing column counts as zero. */
export interface TotalsRow {
  readonly server_id: string;
  readonly instance_id: string;
  readonly gross?: string;
  readonly charges?: string | number;
  readonly started?: string | number;
  readonly ended?: string | number;
}

/** The totals in rows of distinct keys. */
export function toTotalsByKey(rows: readonly TotalsRow[]): TotalsByKey {
  const totals = rows.map(({ server_id, instance_id, gross, charges, started, ended }) => {
    const figures = {
      gross: parseCents(gross ?? "0.00"),
      charges: Number(charges ?? 0),
      started: Number(started ?? 0),
      ended: Number(ended ?? 0),
    };
    return [`${server_id}/${instance_id}`, figures] as const;
  });
  return new Map(totals.filter(([, figures]) => !isZero(figures)));
}

/** The sum, key by key. */
export function plus(left: TotalsByKey, right: TotalsByKey): TotalsByKey {
  return combine(left, right, 1);
}

/** The difference, key by key. */
export function minus(left: TotalsByKey, right: TotalsByKey): TotalsByKey {
  return combine(left, right, -1);
}

/** The gross of all keys, in cents. */
export function grossOf(totals: TotalsByKey): bigint {
  return totals.values().reduce((sum, { gross }) => sum + gross, 0n);
}

/** The number of charges of all keys. */
export function chargesOf(totals: TotalsByKey): number {
  return totals.values().reduce((sum, { charges }) => sum + charges, 0);
}

/** The largest number of charges, of starts or of ends, of all keys together. */
export function largestCount(totals: TotalsByKey): number {
  const counts = [0, 0, 0];
  for (const { charges, started, ended } of totals.values()) {
    for (const [index, count] of [charges, started, ended].entries()) {
      counts[index] = (counts[index] ?? 0) + count;
    }
  }
  return Math.max(...counts);
}

/** The part of totals that comes from some tables. */
export function partOf(totals: TotalsByKey, tables: readonly LedgerTable[]): TotalsByKey {
  const parts = [...totals].map(([key, { gross, charges, started, ended }]) => {
    const ofCharges = tables.includes("charges") && { gross, charges };
    const ofRentals = tables.includes("rentals") && { started, ended };
    return [key, { ...ZERO, ...ofCharges, ...ofRentals }] as const;
  });
  return new Map(parts.filter(([, part]) => !isZero(part)));
}

function combine(left: TotalsByKey, right: TotalsByKey, sign: 1 | -1): TotalsByKey {
  const result = new Map(left);
  for (const [key, change] of right) {
    const { gross, charges, started, ended } = result.get(key) ?? ZERO;
    const totals = {
      gross: gross + BigInt(sign) * change.gross,
      charges: charges + sign * change.charges,
      started: started + sign * change.started,
      ended: ended + sign * change.ended,
    };
    if (isZero(totals)) result.delete(key);
    else result.set(key, totals);
  }
  return result;
}

function isZero({ gross, charges, started, ended }: Totals): boolean {
  return gross === 0n && charges === 0 && started === 0 && ended === 0;
}
