/** Adding up what a breakdown counts: money and rentals, per server and per instance. */
import type { Cents } from "./cents.ts";

/** What was counted of a server, of an instance, or of all. */
export interface Tally {
  gross: Cents;
  /** Rentals that ran in the period. */
  rentals: number;
  /** Rentals that run now. */
  running: number;
  /** Whether there was a charge or a rental in the period, even if they add up to nothing. */
  touched: boolean;
}

/** The tallies of a provider. An instance's figures count for its server and the total too. */
export interface Tallies {
  readonly total: Tally;
  /** Of a server, by `servers.id`. */
  server(id: string): Tally;
  /** Of an instance of a server, by `servers.id` and `instances.id`. */
  instance(server: string, id: string): Tally;
  /** Adds to the instance ("" for what belongs to none), to its server and to the total. */
  add(server: string, instance: string, part: Partial<Tally>): void;
}

/** Makes empty tallies. */
export function createTallies(): Tallies {
  const total = empty();
  const tallies = new Map<string, Tally>();
  const at = (key: string): Tally => {
    const known = tallies.get(key);
    if (known) return known;
    const tally = empty();
    tallies.set(key, tally);
    return tally;
  };
  return {
    total,
    server: (id) => at(id),
    instance: (server, id) => at(`${server}/${id}`),
    add(server, instance, part) {
      increase(total, part);
      increase(at(server), part);
      if (instance !== "") increase(at(`${server}/${instance}`), part);
    },
  };
}

function empty(): Tally {
  return { gross: 0n, rentals: 0, running: 0, touched: false };
}

function increase(tally: Tally, part: Partial<Tally>): void {
  tally.gross += part.gross ?? 0n;
  tally.rentals += part.rentals ?? 0;
  tally.running += part.running ?? 0;
  tally.touched ||= part.touched ?? false;
}
