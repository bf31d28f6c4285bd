/** Totals of a breakdown by owner: what its rows add up to per server and per instance. */
import { parseCents } from "../../db/cents.ts";
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import type { Sums } from "../../rollup/sums.ts";

/** The server and instance of a row. The instance is "0" if the row has none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** The sums of owners at the first boundary of a period, and at the last one. */
export type StoredSums = Readonly<Record<"atFirst" | "atLast", ReturnType<typeof ownerSums>>>;

/** Parses rows of stored sums. */
export function ownerSums(rows: readonly (Owner & SumsRow)[]) {
  return rows.map((row) => ({ server: row.server, instance: row.instance, sums: sumsOf(row) }));
}

/** A period up to now, in ms from the first instant there is. */
interface InMs {
  readonly from: bigint;
  readonly until: bigint;
}

/** A row of charges. */
type ChargesRow = Owner & Readonly<Record<"gross" | "refunds" | "charges", string>>;
/** A row of rentals: those of the period, those that run now, and how long they ran in the period, in ms. */
type RentalsRow = Owner & Readonly<Record<"rentals" | "running" | "rented", string>>;
/** The rows that complete stored sums, or those of the ledger alone. */
export type PeriodRows = Readonly<
  Record<"head" | "tail" | "uncovered", readonly ChargesRow[]> &
    Record<"startsBeside" | "endsBeside" | "written" | "ending" | "open", readonly RentalsRow[]>
>;

/** The totals of an instance, of a server or of the provider in a period. */
export class Totals {
  /** In cents, as `refunds`. Written out, as all sums of charges here: answers make thousands. */
  gross = 0n;
  refunds = 0n;
  charges = 0n;
  /** The rentals that run now, whatever the period. */
  running = 0;
  #rentals = 0;
  #rented = 0n;

  /** The rentals that ran at some time of the period. One that was committed late can have ended and not started. */
  get rentals(): number {
    return Math.max(0, this.#rentals);
  }

  /** How long rentals ran in the period, in ms. */
  get rented(): bigint {
    return this.#rented > 0n ? this.#rented : 0n;
  }

  /** Whether there was a charge or a rental in the period, even if the charges add up to zero. */
  get hadActivity(): boolean {
    return this.charges > 0n || this.rentals > 0;
  }

  /** Adds the totals of a part. */
  add(part: Totals): void {
    this.gross += part.gross;
    this.refunds += part.refunds;
    this.charges += part.charges;
    this.running += part.running;
    this.#rentals += part.#rentals;
    this.#rented += part.#rented;
  }

  addCharges(row: ChargesRow): void {
    this.gross += parseCents(row.gross);
    this.refunds += parseCents(row.refunds);
    this.charges += BigInt(row.charges);
  }

  addRentals(row: RentalsRow): void {
    this.#rentals += Number(row.rentals);
    this.running += Number(row.running);
    this.#rented += BigInt(row.rented);
  }

  /**
   * Adds the sums of what is dated before the end of the period, or takes away those of what is dated before its
   * start. A rental that has not ended before the start is one of the period. What starts or ends at the instant
   * itself runs for as long either way.
   */
  addStored(sums: Sums, at: bigint, isEnd: boolean): void {
    const { gross, refunds, charges, started, ended, started_ms, ended_ms } = sums;
    const sign = isEnd ? 1n : -1n;
    this.gross += sign * gross;
    this.refunds += sign * refunds;
    this.charges += sign * charges;
    this.#rentals += Number(isEnd ? started : -ended);
    this.#rented += sign * (at * (started - ended) - (started_ms - ended_ms));
  }
}

/** The totals by owner. */
export class TotalsByOwner {
  /** By server id, then by instance id. */
  readonly #servers = new Map<string, Map<string, Totals>>();

  /** The totals of an owner, to add to. */
  of({ server, instance }: Owner): Totals {
    return this.#servers
      .getOrInsertComputed(server, () => new Map())
      .getOrInsertComputed(instance, () => new Totals());
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    return this.#servers.get(server)?.get(id) ?? NOTHING;
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return sum(this.#servers.get(id)?.values() ?? []);
  }

  /** The totals of the provider. */
  total(): Totals {
    return sum(this.#servers.values().flatMap((instances) => instances.values()));
  }
}

const NOTHING = new Totals();

function sum(parts: Iterable<Totals>): Totals {
  const totals = new Totals();
  for (const part of parts) totals.add(part);
  return totals;
}

/** Adds up the parts of a period. */
export function totalsOf(rows: PeriodRows, { atFirst, atLast }: StoredSums, period: InMs) {
  const totals = new TotalsByOwner();
  for (const owner of atLast) totals.of(owner).addStored(owner.sums, period.until, true);
  for (const owner of atFirst) totals.of(owner).addStored(owner.sums, period.from, false);
  for (const row of [...rows.head, ...rows.tail, ...rows.uncovered]) totals.of(row).addCharges(row);
  const { startsBeside, endsBeside, written, ending, open } = rows;
  for (const row of [...startsBeside, ...endsBeside, ...written, ...ending, ...open]) {
    totals.of(row).addRentals(row);
  }
  return totals;
}
