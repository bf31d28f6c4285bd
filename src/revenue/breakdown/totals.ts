/** Totals of a breakdown by owner: money and rentals per server and per instance. */
import type { Cents } from "../../db/cents.ts";

/** The totals of an instance, of a server or of the provider. */
export interface Totals {
  readonly gross: Cents;
  /** Charges in the period. */
  readonly charges: number;
  /** Rentals that ran in the period. */
  readonly rentals: number;
  /** Rentals running now. */
  readonly running: number;
}

/** The server and instance of a row. The instance is "" or "0" if the row has none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** Totals per instance, which add up to the totals of servers and of the provider. */
export interface TotalsByOwner {
  /** The totals of the provider. */
  total(): Totals;
  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals;
  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals;
  /** Adds to the totals of an owner. */
  add(owner: Owner, amounts: Partial<Totals>): void;
  /** Subtracts from the totals of an owner. */
  subtract(owner: Owner, amounts: Partial<Totals>): void;
  /** A copy that changes independently. */
  copy(): TotalsByOwner;
  /** The number of owners. */
  readonly size: number;
}

type MutableTotals = { -readonly [Field in keyof Totals]: Totals[Field] };

/** By server id, then by instance id. */
type TotalsMap = Map<string, Map<string, MutableTotals>>;

/** Creates totals without owners. */
export function createTotalsByOwner(): TotalsByOwner {
  return wrap(new Map());
}

function wrap(totals: TotalsMap): TotalsByOwner {
  const ofOwner = ({ server, instance }: Owner) =>
    totals.getOrInsertComputed(server, () => new Map()).getOrInsertComputed(instance, zero);
  return {
    total: () => sum(totals.values()),
    server: (id) => sum([totals.get(id) ?? new Map()]),
    instance: (server, id) => totals.get(server)?.get(id) ?? zero(),
    add: (owner, amounts) => increase(ofOwner(owner), 1, amounts),
    subtract: (owner, amounts) => increase(ofOwner(owner), -1, amounts),
    copy: () => wrap(copyOf(totals)),
    get size() {
      return totals.values().reduce((size, instances) => size + instances.size, 0);
    },
  };
}

/** Whether there was a charge or a rental in the period, even if the charges add up to zero. */
export function hadActivity({ charges, rentals }: Totals): boolean {
  return charges > 0 || rentals > 0;
}

function zero(): MutableTotals {
  return { gross: 0n, charges: 0, rentals: 0, running: 0 };
}

function sum(servers: Iterable<ReadonlyMap<string, Totals>>): Totals {
  const total = zero();
  for (const instances of servers) {
    for (const amounts of instances.values()) increase(total, 1, amounts);
  }
  return total;
}

function increase(totals: MutableTotals, sign: 1 | -1, amounts: Partial<Totals>): void {
  if (amounts.gross !== undefined) totals.gross += sign === 1 ? amounts.gross : -amounts.gross;
  totals.charges += sign * (amounts.charges ?? 0);
  totals.rentals += sign * (amounts.rentals ?? 0);
  totals.running += sign * (amounts.running ?? 0);
}

function copyOf(totals: TotalsMap): TotalsMap {
  const copy: TotalsMap = new Map();
  for (const [server, instances] of totals) {
    const copies = new Map<string, MutableTotals>();
    // A literal takes half the time of a spread, and there may be tens of thousands of instances.
    for (const [instance, { gross, charges, rentals, running }] of instances) {
      copies.set(instance, { gross, charges, rentals, running });
    }
    copy.set(server, copies);
  }
  return copy;
}
