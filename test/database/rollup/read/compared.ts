/** A small ledger, and services whose answers are compared with the sums of its rows. */
import type { Knex } from "knex";
import { beforeEach } from "vitest";
import { createRead, type Query, type Read } from "../../../../src/db/query.ts";
import { createExactService } from "../../../support/ledger/exact.ts";
import { requested } from "../../../support/ledger/periods.ts";
import { readLedger } from "../../../support/ledger/store.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { charge } from "../write/built.ts";

/** The time of calls. */
export const NOW = "2026-11-20T09:30:00.000Z";
/** All of its year. */
export const YEAR = ["2026-01-01T00:00:00.000Z", "2026-12-31T23:59:59.999Z"] as const;
/** A recording time, or a watermark. */
export const minute = (number: number) => `2026-11-20 08:${String(number).padStart(2, "0")}:00.000`;

/** The ends of a period, ISO 8601; "" for an omitted one. */
export type Period = readonly [start: string, end: string];

/** A `Read` whose queries are wrapped, given the session's own. */
export const wrapped =
  (read: Read, wrap: (query: Query) => Query): Read =>
  (work, options) =>
    read((session) => work({ ...session, query: wrap(session.query) }), options);

/**
 * A service that asks for provider 1. Each answer is compared with the sums of the rows; what is
 * resolved to are the statements that it took.
 */
export function createComparedService(database: Knex, read = createRead(database)) {
  const service = createExactService(read);
  const ledger = () => database.transaction((reader) => readLedger(reader, "1"));
  return {
    overview: async (now = NOW) => service.overview(await ledger(), now),
    breakdown: async ([start, end]: Period, now = NOW) =>
      service.breakdown(await ledger(), now, requested(start, end, now)),
  };
}

/**
 * Creates a database for the calling file. Before each test it has two servers of provider 1, of which
 * the second is deleted, and four charges, recorded in minute 1.
 */
export async function createSmallDatabase(): Promise<Knex> {
  const { knex } = await databaseOfFile(["servers", ...LEDGER]);
  beforeEach(async () => {
    const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.00" };
    await knex("servers").insert([
      { ...server, id: 1, uuid: "1" },
      { ...server, id: 2, uuid: "2", deleted_at: "2026-01-01" },
    ]);
    await knex("charges").insert([
      charge("2025-12-31 23:59:59.999", minute(1), "7.00"),
      charge("2026-01-05 00:00:00.000", minute(1), "10.00"),
      charge("2026-03-05 00:00:00.000", minute(1), "20.00"),
      charge("2026-11-10 00:00:00.000", minute(1), "70.00"),
    ]);
  });
  return knex;
}
