/** Adding up what a breakdown counts: money and rentals, per server and per instance. */
import type { Cents } from "../../db/cents.ts";

/** What was counted of a server, of an instance, or of all. */
export interface Totals {
  readonly gross: Cents;
  /** Charges in the period. */
  readonly charges: number;
  /** Rentals that ran in the period. */
  readonly rentals: number;
  /** Rentals that run now. */
  readonly running: number;
}

/** Whose figures they are. The instance is "" or "0" for what belongs to none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/**
 * The tallies of a provider. They are kept per instance, each server's "" and "0" among them;
 * what a server has, and what all have, is added up where it is asked for.
 */
export interface TotalsByOwner {
  /** Of all. */
  total(): Totals;
  /** Of a server, by `servers.id`. */
  server(id: string): Totals;
  /** Of an instance of a server, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Totals;
  /** Adds a part to its owner's; or takes it off. */
  add(owner: Owner, sign: 1 | -1, part: Partial<Totals>): void;
  /** TotalsByOwner to add to, which start from these. */
  copy(): TotalsByOwner;
  /** How many owners there is something of. */
  readonly size: number;
}

/** A tally that is being added to. */
type Sum = { -readonly [Figure in keyof Totals]: Totals[Figure] };

/** By server, then by instance. */
type Sums = Map<string, Map<string, Sum>>;

/** Makes empty tallies. */
export function createTotalsByOwner(): TotalsByOwner {
  return talliesOf(new Map());
}

function talliesOf(sums: Sums): TotalsByOwner {
  return {
    total() {
      const total = nothing();
      for (const instances of sums.values()) {
        for (const sum of instances.values()) increase(total, 1, sum);
      }
      return total;
    },
    server(id) {
      const total = nothing();
      for (const sum of sums.get(id)?.values() ?? []) increase(total, 1, sum);
      return total;
    },
    instance: (server, id) => sums.get(server)?.get(id) ?? NOTHING,
    add(owner, sign, part) {
      const instances = sums.getOrInsertComputed(owner.server, () => new Map());
      increase(instances.getOrInsertComputed(owner.instance, nothing), sign, part);
    },
    copy() {
      const copied: Sums = new Map();
      for (const [server, instances] of sums) {
        const copies = new Map<string, Sum>();
        for (const [instance, { gross, charges, rentals, running }] of instances) {
          copies.set(instance, { gross, charges, rentals, running });
        }
        copied.set(server, copies);
      }
      return talliesOf(copied);
    },
    get size() {
      let size = 0;
      for (const instances of sums.values()) size += instances.size;
      return size;
    },
  };
}

function nothing(): Sum {
  return { gross: 0n, charges: 0, rentals: 0, running: 0 };
}

const NOTHING: Totals = nothing();

/** Whether there was a charge or a rental in the period, even if they add up to nothing. */
export function hadActivity({ charges, rentals }: Totals): boolean {
  return charges > 0 || rentals > 0;
}

function increase(sum: Sum, sign: 1 | -1, part: Partial<Totals>): void {
  if (part.gross !== undefined) sum.gross += sign === 1 ? part.gross : -part.gross;
  sum.charges += sign * (part.charges ?? 0);
  sum.rentals += sign * (part.rentals ?? 0);
  sum.running += sign * (part.running ?? 0);
}
