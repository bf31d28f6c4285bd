/** Totals of a breakdown by owner: sums and rentals per server and per instance. */
import { type SumsRow, sumsOf } from "../../rollup/difference.ts";
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

  /** The memory that this takes, in rows of about 80 bytes. */
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
}

/** A row of the ledger's queries. A column that it does not have is zero. */
type RawRow = Owner & SumsRow & { readonly rentals?: string; readonly running?: string };

const NONE: Totals = { sums: NO_SUMS, rentals: 0, running: 0 };

/**
 * The totals of a period: the difference of the sums at two boundaries, completed by what these do not
 * hold.
 */
export class PeriodTotals {
  readonly #before: ByOwner<Sums>;
  readonly #upToEnd: ByOwner<Sums>;
  readonly #raw = new ByOwner(NONE, (one: Totals, other: Totals) => ({
    sums: plus(one.sums, other.sums),
    rentals: one.rentals + other.rentals,
    running: one.running + other.running,
  }));

  /** From the sums at the first boundary in the period, and at the last one. */
  constructor(before: ByOwner<Sums>, upToEnd: ByOwner<Sums>) {
    this.#before = before;
    this.#upToEnd = upToEnd;
  }

  /** Adds what was read from the ledger. */
  add(rows: readonly RawRow[]): void {
    for (const row of rows) {
      const { rentals = 0, running = 0 } = row;
      this.#raw.add(row, { sums: sumsOf(row), rentals: Number(rentals), running: Number(running) });
    }
  }

  /** The totals of the provider. */
  total(): Totals {
    return complete(this.#before.total(), this.#upToEnd.total(), this.#raw.total());
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return complete(this.#before.server(id), this.#upToEnd.server(id), this.#raw.server(id));
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    return complete(
      this.#before.instance(server, id),
      this.#upToEnd.instance(server, id),
      this.#raw.instance(server, id),
    );
  }
}

function complete(before: Sums, upToEnd: Sums, raw: Totals): Totals {
  const between = minus(upToEnd, before);
  // Those that ran at the first boundary, and those that started since.
  const rentals = Number(before.started - before.ended + between.started) + raw.rentals;
  return {
    sums: plus(between, raw.sums),
    // In a period without a boundary, one that was committed late can have ended and not started.
    rentals: Math.max(0, rentals),
    running: raw.running,
  };
}

/** Whether there was a charge or a rental in the period, even if the charges add up to zero. */
export function hadActivity({ sums, rentals }: Totals): boolean {
  return sums.charges > 0n || rentals > 0;
}
