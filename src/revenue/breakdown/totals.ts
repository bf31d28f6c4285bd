/** Totals of a breakdown by owner: what its rows add up to per server and per instance. */
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { minus, NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";

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
type ChargesRow = Owner & SumsRow & Readonly<Record<"charges", string>>;
/** A row of rentals: those of the period, those that run now, and how long they ran in the period, in ms. */
type RentalsRow = Owner & Readonly<Record<"rentals" | "running" | "rented", string>>;
/** The rows that complete stored sums, or those of the ledger alone. */
export type PeriodRows = Readonly<
  Record<"head" | "tail" | "uncovered", readonly ChargesRow[]> &
    Record<"startsBeside" | "endsBeside" | "written" | "ending" | "open", readonly RentalsRow[]>
>;

/** The totals of an instance, of a server or of the provider in a period. */
export class Totals {
  /** The sums of the charges of the period. */
  charged = NO_SUMS;
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
    return this.charged.charges > 0n || this.rentals > 0;
  }

  /** Adds the totals of a part. */
  add(part: Totals): void {
    this.charged = plus(this.charged, part.charged);
    this.running += part.running;
    this.#rentals += part.#rentals;
    this.#rented += part.#rented;
  }

  addCharges(row: ChargesRow): void {
    this.charged = plus(this.charged, sumsOf(row));
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
    const { started, ended, started_ms, ended_ms } = sums;
    const rented = at * (started - ended) - (started_ms - ended_ms);
    this.charged = isEnd ? plus(this.charged, sums) : minus(this.charged, sums);
    this.#rentals += Number(isEnd ? started : -ended);
    this.#rented += isEnd ? rented : -rented;
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
