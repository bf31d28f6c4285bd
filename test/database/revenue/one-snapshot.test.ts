/**
 * A response is read from one snapshot: while transactions move money between servers or add
 * charges and rentals, no response shows part of a transaction.
 */
import { create } from "@bufbuild/protobuf";
import { beforeAll, expect, it } from "vitest";
import {
  GetOverviewRequestSchema,
  type GetOverviewResponse,
  GetServerBreakdownRequestSchema,
  type GetServerBreakdownResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../../src/db/cents.ts";
import { createRead } from "../../../src/db/query.ts";
import type { Context } from "../../../src/handler.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { sum, usd } from "../../support/ledger/json-figures.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile } from "../file-database.ts";

const NOW = Date.parse("2026-11-20T09:30:00.000Z");
const SERVERS = 12;
/** How many transactions are written and how many responses are checked, at least. */
const ROUNDS = 60 * SOAK;
/** The initial gross of each server, in cents. */
const INITIAL_GROSS = 1_000_000n;

const database = await databaseOfFile();
beforeAll(async () => {
  const numbers = Array.from({ length: SERVERS }, (_, index) => index + 1);
  const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.0000" };
  await database.knex("servers").insert(numbers.map((id) => ({ ...server, id, uuid: `${id}` })));
  await database.knex("charges").insert(numbers.map((id) => charge(id, INITIAL_GROSS)));
});

const charge = (server: number, cents: bigint) => ({
  provider_id: 1,
  server_id: server,
  charged_at: "2026-11-10 12:00:00.000",
  gross: usd(cents).value,
});
/** An amount of a response, in cents. */
const cents = (amount: { readonly value: string } | undefined) => parseCents(amount?.value ?? "");

const context = (): Context => ({
  caller: { providerId: "1" },
  now: NOW,
  signal: new AbortController().signal,
  deadline: Infinity,
});

/** Checks responses of services with an empty cache until enough was written and read meanwhile. */
async function writeAndRead(
  write: (round: number) => Promise<void>,
  check: (overview: GetOverviewResponse, breakdown: GetServerBreakdownResponse) => void,
): Promise<void> {
  let [written, read] = [0, 0];
  const isEnough = () => Math.min(written, read) >= ROUNDS;
  const writer = async () => {
    while (!isEnough()) await write(written++);
  };
  const reader = async () => {
    while (!isEnough()) {
      const service = createRevenueService(createRead(database.knex));
      const overview = await service.getOverview(create(GetOverviewRequestSchema), context());
      const request = create(GetServerBreakdownRequestSchema);
      const breakdown = await service.getServerBreakdown(request, context());
      check(overview.message, breakdown.message);
      read++;
    }
  };
  await Promise.all([writer(), reader(), reader(), reader(), reader()]);
}

it(
  "responses show all of a transaction that moves money and adds a cent and a rental, or nothing",
  async () => {
    const initial = INITIAL_GROSS * BigInt(SERVERS);
    await database.knex("wallets").insert({ provider_id: 1, available_balance: "0.00" });
    await writeAndRead(
      async (round) => {
        const amount = BigInt(round % 977) + 1n;
        const [from, to] = [(round % SERVERS) + 1, ((round * 7 + 3) % SERVERS) + 1];
        const started = { provider_id: 1, server_id: to, started_at: "2026-11-10 12:00:00.000" };
        await database.knex.transaction(async (transaction) => {
          await transaction("charges").insert(charge(from, -amount));
          await transaction("charges").insert(charge(to, amount + 1n));
          await transaction("wallets").increment("available_balance", 0.01);
          await transaction("rentals").insert(started);
        });
      },
      ({ summary, monthlyEarnings, serverRevenue }, { totalRevenue, servers, ...counts }) => {
        const added = cents(summary?.availableBalance);
        const all = initial + added;
        expect(cents(summary?.grossRevenueYtd)).toBe(all);
        expect(cents(summary?.totalEarningsYtd) + cents(summary?.platformFeesYtd)).toBe(all);
        expect(cents(monthlyEarnings[0]?.amount)).toBe(cents(summary?.totalEarningsYtd));
        expect(sum(serverRevenue.map((server) => cents(server.grossRevenue)))).toBe(all);

        const rentals = cents(totalRevenue) - initial;
        expect(rentals).toBeGreaterThanOrEqual(added); // it was read later
        expect(sum(servers.map((server) => cents(server.totalRevenue)))).toBe(initial + rentals);
        expect(BigInt(counts.totalRentals)).toBe(rentals);
        expect(BigInt(counts.activeRentals)).toBe(rentals);
        expect(sum(servers.map(({ activeRentals }) => BigInt(activeRentals)))).toBe(rentals);
      },
    );
  },
  60_000 * SOAK,
);
