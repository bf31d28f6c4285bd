/** Totals of a breakdown by owner: sums and rentals per server and per instance. */
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import { minus, NO_SUMS, plus, type Sums } from "../../rollup/sums.ts";

/** The server and instance of a row. The instance is "0" if the row has none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** The memory of a server beside its owners, in rows. */
const ROWS_PER_SERVER = 6;

/** Values by owner, which add up to those of servers and of the provider. */
export class ByOwner<Value> {
  readonly #none: Value;
  readonly #add: (one: Value, other: Value) => Value;
  /** By server id, then by instance id. */
  readonly #servers = new Map<string, Map<string, Value>>();
  /** The number of owners. */
  #owners = 0;
  /** The totals that were asked for since the last change, by server id; "" for the provider. */
  readonly #totals = new Map<string, Value>();

  /**
   * @param none the value of an owner that has none
   * @param add adds two values
   */
  constructor(none: Value, add: (one: Value, other: Value) => Value) {
    this.#none = none;
    this.#add = add;
  }

  /** The total of the provider. */
  total(): Value {
    return this.#totals.getOrInsertComputed("", () =>
      this.#sum(this.#servers.values().flatMap((instances) => instances.values())),
    );
  }

  /** The total of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Value {
    return this.#totals.getOrInsertComputed(id, () =>
      this.#sum(this.#servers.get(id)?.values() ?? []),
    );
  }

  /** The value of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Value {
    return this.#servers.get(server)?.get(id) ?? this.#none;
  }

  /** Adds to the value of an owner. */
  add({ server, instance }: Owner, value: Value): void {
    this.#totals.clear();
    const instances = this.#servers.getOrInsertComputed(server, () => new Map());
    const known = instances.get(instance);
    if (known === undefined) this.#owners++;
    instances.set(instance, known === undefined ? value : this.#add(known, value));
  }

  /** The memory that this takes, in rows of about 125 bytes. */
  get size(): number {
    return this.#owners + ROWS_PER_SERVER * this.#servers.size;
  }

  #sum(values: Iterable<Value>): Value {
    let sum = this.#none;
    for (const value of values) sum = this.#add(sum, value);
    return sum;
  }
}

/** The sums at a boundary, by owner. */
export function sumsByOwner(rows: readonly (Owner & SumsRow)[]): ByOwner<Sums> {
  const sums = new ByOwner(NO_SUMS, plus);
  for (const row of rows) sums.add(row, sumsOf(row));
  return sums;
}

/** The totals of an instance, of a server or of the provider in a period. */
export interface Totals {
  /** The sums of what is dated in the period. */
  readonly sums: Sums;
  /** The rentals that ran at some time of the period. */
  readonly rentals: number;
  /** The rentals that run now, whatever the period. */
  readonly running: number;
  /** How long rentals ran in the period, in ms. */
  readonly rented: bigint;
}

/** A period of time, in ms from the first instant there is. */
export interface Stretch {
  readonly from: bigint;
  readonly until: bigint;
}

/** Rows of the ledger's queries, by what they complete. A column that they do not have is zero. */
export interface RawRows {
  /** The difference of the sums at the first boundary and at the start of the period. */
  readonly head: readonly (Owner & SumsRow)[];
  /** Whether that boundary comes after the start. */
  readonly isInside: boolean;
  /** What to add to the sums at the last boundary, to make them those at the end of the period. */
  readonly toEnd: readonly (Owner & SumsRow)[];
  /** Rentals that are not covered, and have an end. */
  readonly rentals: readonly (Owner & Readonly<Record<"rentals" | "running" | "rented", string>>)[];
  /** Numbers of those without one, that had started before the period, in it, and after it. */
  readonly openBefore: readonly (Owner & Count)[];
  readonly openSince: readonly (Owner & Count & Readonly<Record<"started_ms", string>>)[];
  readonly openAfter: readonly (Owner & Count)[];
}

type Count = Readonly<Record<"count", string>>;

/** What was read from the ledger. */
interface Raw extends Omit<Totals, "sums"> {
  readonly toStart: Sums;
  readonly toEnd: Sums;
}

const NONE: Raw = { toStart: NO_SUMS, toEnd: NO_SUMS, rentals: 0, running: 0, rented: 0n };

/**
 * The totals of a period: the difference of the sums at two boundaries, completed by what these do not
 * hold.
 */
export class PeriodTotals {
  readonly #atFirst: ByOwner<Sums>;
  readonly #atLast: ByOwner<Sums>;
  readonly #period: Stretch;
  readonly #raw = new ByOwner(NONE, (one: Raw, other: Raw) => ({
    toStart: plus(one.toStart, other.toStart),
    toEnd: plus(one.toEnd, other.toEnd),
    rentals: one.rentals + other.rentals,
    running: one.running + other.running,
    rented: one.rented + other.rented,
  }));

  /** From the sums at the first boundary in the period, and at the last one. */
  constructor(
    atFirst: ByOwner<Sums>,
    atLast: ByOwner<Sums>,
    period: Stretch,
    { head, isInside, toEnd, rentals, openBefore, openSince, openAfter }: RawRows,
  ) {
    this.#atFirst = atFirst;
    this.#atLast = atLast;
    this.#period = period;
    const { from, until } = period;
    const add = (owner: Owner, raw: Partial<Raw>) => this.#raw.add(owner, { ...NONE, ...raw });
    for (const row of head) {
      const sums = sumsOf(row);
      add(row, { toStart: isInside ? minus(NO_SUMS, sums) : sums });
    }
    for (const row of toEnd) add(row, { toEnd: sumsOf(row) });
    for (const row of rentals) {
      const [ofRow, running] = [Number(row.rentals), Number(row.running)];
      add(row, { rentals: ofRow, running, rented: BigInt(row.rented) });
    }
    for (const row of openBefore) {
      const count = Number(row.count);
      const rented = until > from ? BigInt(count) * (until - from) : 0n;
      add(row, { rentals: count, running: count, rented });
    }
    for (const row of openSince) {
      const count = Number(row.count);
      const rented = BigInt(count) * until - BigInt(row.started_ms);
      add(row, { rentals: count, running: count, rented });
    }
    for (const row of openAfter) add(row, { running: Number(row.count) });
  }

  /** The totals of the provider. */
  total(): Totals {
    return this.#complete(this.#atFirst.total(), this.#atLast.total(), this.#raw.total());
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return this.#complete(this.#atFirst.server(id), this.#atLast.server(id), this.#raw.server(id));
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    return this.#complete(
      this.#atFirst.instance(server, id),
      this.#atLast.instance(server, id),
      this.#raw.instance(server, id),
    );
  }

  #complete(atFirst: Sums, atLast: Sums, raw: Raw): Totals {
    const [atStart, atEnd] = [plus(atFirst, raw.toStart), plus(atLast, raw.toEnd)];
    // Those that had started by the end, without those that had ended before the start.
    const rentals = Number(atEnd.started - atStart.ended) + raw.rentals;
    const { from, until } = this.#period;
    const rented = rentedBefore(until, atEnd) - rentedBefore(from, atStart) + raw.rented;
    return {
      sums: minus(atEnd, atStart),
      // In a period without a boundary, one that was committed late can have ended and not started.
      rentals: Math.max(0, rentals),
      running: raw.running,
      rented: rented > 0n ? rented : 0n,
    };
  }
}

/**
 * How long rentals ran before an instant, in ms, from the sums of what is dated before it. What starts or ends at
 * the instant itself makes no difference.
 */
function rentedBefore(instant: bigint, { started, ended, started_ms, ended_ms }: Sums): bigint {
  return instant * (started - ended) - (started_ms - ended_ms);
}

/** Whether there was a charge or a rental in the period, even if the charges add up to zero. */
export function hadActivity({ sums, rentals }: Totals): boolean {
  return sums.charges > 0n || rentals > 0;
}
