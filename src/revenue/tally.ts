/** Adding up what a breakdown counts: money and rentals, per server and per instance. */
import type { Cents } from "../database/cents.ts";

/** What was counted of a server, of an instance, or of all. */
export interface Tally {
  gross: Cents;
  /** Charges in the period. */
  charges: number;
  /** Rentals that ran in the period. */
  rentals: number;
  /** Rentals that run now. */
  running: number;
}

/** Whose figures they are. The instance is "" or "0" for what belongs to none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** The tallies of a provider. An instance's figures count for its server and the total too. */
export interface Tallies {
  readonly total: Tally;
  /** Of a server, by `servers.id`. */
  server(id: string): Tally;
  /** Of an instance of a server, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Tally;
  /** Adds a part to its instance, its server and the total; or takes it off. */
  add(owner: Owner, sign: 1 | -1, part: Partial<Tally>): void;
}

/** Makes empty tallies. */
export function createTallies(): Tallies {
  const total = empty();
  const servers = new Map<string, Tally>();
  const instances = new Map<string, Tally>();
  return {
    total,
    server: (id) => at(servers, id),
    instance: (server, id) => at(instances, `${server}/${id}`),
    add({ server, instance }, sign, part) {
      increase(total, sign, part);
      increase(at(servers, server), sign, part);
      if (instance !== "" && instance !== "0") {
        increase(at(instances, `${server}/${instance}`), sign, part);
      }
    },
  };
}

/** Whether there was a charge or a rental in the period, even if they add up to nothing. */
export function hadActivity({ charges, rentals }: Tally): boolean {
  return charges > 0 || rentals > 0;
}

function at(tallies: Map<string, Tally>, key: string): Tally {
  const known = tallies.get(key);
  if (known) return known;
  const tally = empty();
  tallies.set(key, tally);
  return tally;
}

function empty(): Tally {
  return { gross: 0n, charges: 0, rentals: 0, running: 0 };
}

function increase(tally: Tally, sign: 1 | -1, part: Partial<Tally>): void {
  if (part.gross !== undefined) tally.gross += sign === 1 ? part.gross : -part.gross;
  tally.charges += sign * (part.charges ?? 0);
  tally.rentals += sign * (part.rentals ?? 0);
  tally.running += sign * (part.running ?? 0);
}
