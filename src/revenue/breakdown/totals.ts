/** Totals of a breakdown by owner: what its rows add up to per server and per instance. */
import { parseCents } from "../../db/cents.ts";
import { EARLIEST } from "../../db/datetime.ts";
import { type SumsRow, sumsOf } from "../../rollup/stored-sums.ts";
import type { Sums } from "../../rollup/sums.ts";
import type { Period } from "../period.ts";

/** The server and instance of a row. The instance is "0" if the row has none. */
export interface Owner {
  readonly server: string;
  readonly instance: string;
}

/** The stored sums of an owner. */
export interface OwnerSums extends Owner {
  readonly sums: Sums;
}

/** Parses rows of stored sums. */
export function ownerSums(rows: readonly (Owner & SumsRow)[]): OwnerSums[] {
  return rows.map((row) => ({ server: row.server, instance: row.instance, sums: sumsOf(row) }));
}

/** A period of time, in ms from the first instant there is. */
export interface Stretch {
  readonly from: bigint;
  readonly until: bigint;
}

/** A period up to `now` (epoch ms). */
export function stretchOf({ start, end }: Period, now: number): Stretch {
  return { from: BigInt(start - EARLIEST), until: BigInt(Math.min(end + 1, now) - EARLIEST) };
}

/** A row of rentals without an end that had started before the period. */
type OpenRow = Owner & Readonly<Record<"count", string>>;
/** A row of charges. */
type ChargesRow = Owner & Readonly<Record<"gross" | "refunds" | "charges", string>>;
/** A row of rentals: those of the period, those that run now, and how long they ran in the period, in ms. */
type RentalsRow = Owner & Readonly<Record<"rentals" | "running" | "rented", string>>;

/** The totals of an instance, of a server or of the provider in a period. */
export class Totals {
  /** In cents, as `refunds`. */
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

  /** Adds rentals without an end that had started before the period. */
  addOpen(row: OpenRow, { from, until }: Stretch): void {
    const count = Number(row.count);
    this.#rentals += count;
    this.running += count;
    if (until > from) this.#rented += BigInt(count) * (until - from);
  }

  /** Adds the sums at the last boundary, and so what is dated before it. */
  addEnd(sums: Sums, { until }: Stretch): void {
    this.gross += sums.gross;
    this.refunds += sums.refunds;
    this.charges += sums.charges;
    this.#rentals += Number(sums.started);
    this.#rented += rentedBefore(until, sums);
  }

  /** Takes away those at the first one. A rental that has not ended before it is one of the period. */
  subtractStart(sums: Sums, { from }: Stretch): void {
    this.gross -= sums.gross;
    this.refunds -= sums.refunds;
    this.charges -= sums.charges;
    this.#rentals -= Number(sums.ended);
    this.#rented -= rentedBefore(from, sums);
  }
}

/**
 * How long rentals ran before an instant, in ms, from the sums of what is dated before it. What starts or ends at
 * the instant itself makes no difference.
 */
function rentedBefore(instant: bigint, { started, ended, started_ms, ended_ms }: Sums): bigint {
  return instant * (started - ended) - (started_ms - ended_ms);
}

/** The totals by owner. */
export class TotalsByOwner {
  /** By server id, then by instance id. */
  readonly #servers = new Map<string, Map<string, Totals>>();
  readonly #ofServers = new Map<string, Totals>();

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

  /** The totals of a server, by `servers.id`, including rows without an instance, once all is added. */
  server(id: string): Totals {
    return this.#ofServers.getOrInsertComputed(id, () =>
      sum(this.#servers.get(id)?.values() ?? []),
    );
  }

  /** The totals of the provider, once all is added. */
  total(): Totals {
    return sum(this.#servers.keys().map((id) => this.server(id)));
  }
}

const NOTHING = new Totals();

function sum(parts: Iterable<Totals>): Totals {
  const totals = new Totals();
  for (const part of parts) totals.add(part);
  return totals;
}

/** What the totals of a period are made of. */
export interface Parts {
  /** The sums of owners at the first boundary, and at the last one. */
  readonly atFirst: readonly OwnerSums[];
  readonly atLast: readonly OwnerSums[];
  readonly charges: Iterable<ChargesRow>;
  readonly rentals: Iterable<RentalsRow>;
  readonly open: Iterable<OpenRow>;
}

/** The rows that complete the sums of a rollup (`completingSums`). */
type CompletingRows = Readonly<
  Record<"head" | "tail" | "uncovered", readonly ChargesRow[]> &
    Record<"startsAtEdges" | "endsAtEdges" | "written" | "ending", readonly RentalsRow[]> &
    Record<"open", readonly OpenRow[]>
>;

/** What completes the sums, as parts. */
export function completing(rows: CompletingRows): Pick<Parts, "charges" | "rentals" | "open"> {
  return {
    charges: [...rows.head, ...rows.tail, ...rows.uncovered],
    rentals: [...rows.startsAtEdges, ...rows.endsAtEdges, ...rows.written, ...rows.ending],
    open: rows.open,
  };
}

/** Adds up the parts of a period. */
export function totalsOf({ atFirst, atLast, charges, rentals, open }: Parts, period: Stretch) {
  const totals = new TotalsByOwner();
  for (const row of atLast) totals.of(row).addEnd(row.sums, period);
  for (const row of atFirst) totals.of(row).subtractStart(row.sums, period);
  for (const row of charges) totals.of(row).addCharges(row);
  for (const row of rentals) totals.of(row).addRentals(row);
  for (const row of open) totals.of(row).addOpen(row, period);
  return totals;
}
