/** Totals of a breakdown by owner: money and rentals per server and per instance. */
import { type Cents, parseCents } from "../../db/cents.ts";

/**
 * The totals of an instance, of a server or of the provider: of a period, or of what is dated before a
 * boundary.
 */
export interface Totals {
  readonly gross: Cents;
  readonly charges: number;
  /** Rentals that had started: by the end of the period, or before the boundary. */
  readonly started: number;
  /** Rentals that had ended: before the start of the period, or before the boundary. */
  readonly ended: number;
  /** Rentals running now. None at a boundary. */
  readonly running: number;
}

type MutableTotals = { -readonly [Field in keyof Totals]: Totals[Field] };

/** The server and instance of a row. The instance is "0" if the row has none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** What a row of a query adds. A column that it does not have adds nothing. */
export function amountsOf(
  row: Owner & { readonly [Column in keyof Totals]?: string },
): Partial<Totals> {
  const { gross, charges, started, ended, running } = row;
  return {
    ...(gross !== undefined && { gross: parseCents(gross) }),
    charges: Number(charges ?? 0),
    started: Number(started ?? 0),
    ended: Number(ended ?? 0),
    running: Number(running ?? 0),
  };
}

/** The memory of a server beside its owners, in rows. */
const ROWS_PER_SERVER = 6;

/** Stands for no server: ids are never empty. */
const NO_SERVER = { server: "", instances: new Map<string, MutableTotals>() };

/** Totals per instance, which add up to the totals of servers and of the provider. */
export class TotalsByOwner {
  /** By server id, then by instance id. */
  readonly #servers = new Map<string, Map<string, MutableTotals>>();
  /** The server that was used last: comparing two ids costs less than a lookup. */
  #latest: { readonly server: string; readonly instances: Map<string, MutableTotals> } = NO_SERVER;
  /** The number of owners. */
  #size = 0;
  /** Sums that were asked for since the last change, by server id; "" for the provider. */
  #sums = new Map<string, Totals>();

  /** The totals of the provider. */
  total(): Totals {
    return this.#sums.getOrInsertComputed("", () => sum(this.#servers.values()));
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return this.#sums.getOrInsertComputed(id, () => sum([this.#servers.get(id) ?? new Map()]));
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    if (server !== this.#latest.server) {
      const instances = this.#servers.get(server);
      if (instances === undefined) return ZERO;
      this.#latest = { server, instances };
    }
    return this.#latest.instances.get(id) ?? ZERO;
  }

  /** Adds to the totals of an owner. */
  add(owner: Owner, amounts: Partial<Totals>): void {
    increase(this.#of(owner), amounts);
  }

  /** The memory that this takes, in rows of about 80 bytes. */
  get size(): number {
    return this.#size + ROWS_PER_SERVER * this.#servers.size;
  }

  /** The totals of an owner, which are about to change. */
  #of({ server, instance }: Owner): MutableTotals {
    if (this.#sums.size > 0) this.#sums.clear();
    if (server !== this.#latest.server) {
      const instances = this.#servers.getOrInsertComputed(server, () => new Map());
      this.#latest = { server, instances };
    }
    const { instances } = this.#latest;
    let totals = instances.get(instance);
    if (totals === undefined) {
      totals = zero();
      instances.set(instance, totals);
      this.#size++;
    }
    return totals;
  }
}

/**
 * The totals of a period: of the charges between its edges, and of the rentals that had started by
 * its end, and ended before its start. To be completed by what the totals at boundaries do not hold.
 */
export class PeriodTotals {
  readonly #before: TotalsByOwner;
  readonly #upToEnd: TotalsByOwner;
  readonly #changes = new TotalsByOwner();

  /** From the totals of everything dated before the period, and up to its end. */
  constructor(before: TotalsByOwner, upToEnd: TotalsByOwner) {
    this.#before = before;
    this.#upToEnd = upToEnd;
  }

  /** The totals of the provider. */
  total(): Totals {
    return difference(this.#before.total(), this.#upToEnd.total(), this.#changes.total());
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return difference(this.#before.server(id), this.#upToEnd.server(id), this.#changes.server(id));
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    return difference(
      this.#before.instance(server, id),
      this.#upToEnd.instance(server, id),
      this.#changes.instance(server, id),
    );
  }

  /** Adds to the totals of an owner. */
  add(owner: Owner, amounts: Partial<Totals>): void {
    this.#changes.add(owner, amounts);
  }
}

/**
 * The number of rentals that ran in the period. In a period without a boundary, one that was committed
 * late can have ended and not started.
 */
export function rentalsOf({ started, ended }: Totals): number {
  return Math.max(0, started - ended);
}

/** Whether there was a charge or a rental in the period, even if the charges add up to zero. */
export function hadActivity(totals: Totals): boolean {
  return totals.charges > 0 || rentalsOf(totals) > 0;
}

function difference(before: Totals, upToEnd: Totals, changes: Totals): Totals {
  return {
    gross: upToEnd.gross - before.gross + changes.gross,
    charges: upToEnd.charges - before.charges + changes.charges,
    started: upToEnd.started + changes.started,
    ended: before.ended + changes.ended,
    running: changes.running,
  };
}

function zero(): MutableTotals {
  return { gross: 0n, charges: 0, started: 0, ended: 0, running: 0 };
}

const ZERO: Totals = zero();

function sum(servers: Iterable<ReadonlyMap<string, Totals>>): Totals {
  const total = zero();
  for (const instances of servers) {
    for (const amounts of instances.values()) increase(total, amounts);
  }
  return total;
}

function increase(totals: MutableTotals, amounts: Partial<Totals>): void {
  totals.gross += amounts.gross ?? 0n;
  totals.charges += amounts.charges ?? 0;
  totals.started += amounts.started ?? 0;
  totals.ended += amounts.ended ?? 0;
  totals.running += amounts.running ?? 0;
}
