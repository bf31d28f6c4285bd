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

type MutableTotals = { -readonly [Field in keyof Totals]: Totals[Field] };

/** The server and instance of a row. The instance is "" or "0" if the row has none. */
interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** Totals per instance, which add up to the totals of servers and of the provider. */
export class TotalsByOwner {
  /** By server id, then by instance id. */
  readonly #servers = new Map<string, Map<string, MutableTotals>>();
  /** The server that was changed last: comparing two ids costs less than a lookup. */
  #latest: { readonly server: string; readonly instances: Map<string, MutableTotals> } | undefined;

  /** The totals of the provider. */
  total(): Totals {
    return sum(this.#servers.values());
  }

  /** The totals of a server, by `servers.id`, including rows without an instance. */
  server(id: string): Totals {
    return sum([this.#servers.get(id) ?? new Map()]);
  }

  /** The totals of an instance, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals {
    return this.#servers.get(server)?.get(id) ?? zero();
  }

  /** Adds to the totals of an owner. */
  add(owner: Owner, amounts: Partial<Totals>): void {
    increase(this.#of(owner), amounts, 1);
  }

  /** Subtracts from the totals of an owner. */
  subtract(owner: Owner, amounts: Partial<Totals>): void {
    increase(this.#of(owner), amounts, -1);
  }

  /** A copy that changes independently. */
  copy(): TotalsByOwner {
    const copy = new TotalsByOwner();
    for (const [server, instances] of this.#servers) {
      const copies = new Map<string, MutableTotals>();
      // A literal takes half the time of a spread, and there may be tens of thousands of instances.
      for (const [instance, { gross, charges, rentals, running }] of instances) {
        copies.set(instance, { gross, charges, rentals, running });
      }
      copy.#servers.set(server, copies);
    }
    return copy;
  }

  /** The number of owners. */
  get size(): number {
    return this.#servers.values().reduce((size, instances) => size + instances.size, 0);
  }

  #of({ server, instance }: Owner): MutableTotals {
    if (server !== this.#latest?.server) {
      const instances = this.#servers.getOrInsertComputed(server, () => new Map());
      this.#latest = { server, instances };
    }
    return this.#latest.instances.getOrInsertComputed(instance, zero);
  }
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
    for (const amounts of instances.values()) increase(total, amounts, 1);
  }
  return total;
}

function increase(totals: MutableTotals, amounts: Partial<Totals>, sign: 1 | -1): void {
  if (amounts.gross !== undefined) totals.gross += sign === 1 ? amounts.gross : -amounts.gross;
  totals.charges += sign * (amounts.charges ?? 0);
  totals.rentals += sign * (amounts.rentals ?? 0);
  totals.running += sign * (amounts.running ?? 0);
}
