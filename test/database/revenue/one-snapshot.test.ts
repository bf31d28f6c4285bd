/**
 * A response is read from one snapshot: while transactions move money between servers or add
 * charges and rentals, no response shows part of a transaction.
 */
import { create } from "@bufbuild/protobuf";
import { beforeAll, expect, it } from "vitest";
import {
  GetOverviewRequestSchema,
  GetServerBreakdownRequestSchema,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { parseCents } from "../../../src/db/cents.ts";
import { toDatetime } from "../../../src/db/datetime.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { sum, usd } from "../../support/ledger/amounts.ts";
import { atTimeOfCall } from "../../support/ledger/call.ts";
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
  await database.knex("wallets").insert({ provider_id: 1, available_balance: "0.00" });
});

const charge = (server: number, cents: bigint) => ({
  provider_id: 1,
  server_id: server,
  charged_at: "2026-11-10 12:00:00.000",
  gross: usd(cents).value,
});
/** An amount of a response, in cents. */
const cents = (amount: { readonly value: string } | undefined) => parseCents(amount?.value ?? "");

/** The responses of a service with an empty cache. */
async function respond() {
  const service = createRevenueService(atTimeOfCall(createRead(database.knex), toDatetime(NOW)));
  const { signal } = new AbortController();
  const context = { caller: { providerId: "1" }, signal };
  const overview = await service.getOverview(create(GetOverviewRequestSchema), context);
  const request = create(GetServerBreakdownRequestSchema);
  const breakdown = await service.getServerBreakdown(request, context);
  return { overview: overview.message, breakdown: breakdown.message };
}

/** Moves money from one server to another, and adds a cent and a rental. */
async function move(round: number): Promise<void> {
  const amount = BigInt(round % 977) + 1n;
  const [from, to] = [(round % SERVERS) + 1, ((round * 7 + 3) % SERVERS) + 1];
  const started = { provider_id: 1, server_id: to, started_at: "2026-11-10 12:00:00.000" };
  await database.knex.transaction(async (transaction) => {
    await transaction("charges").insert(charge(from, -amount));
    await transaction("charges").insert(charge(to, amount + 1n));
    await transaction("wallets").increment("available_balance", 0.01);
    await transaction("rentals").insert(started);
  });
}

/** Expects responses to show whole transactions only. */
function expectWhole({ overview, breakdown }: Awaited<ReturnType<typeof respond>>): void {
  const initial = INITIAL_GROSS * BigInt(SERVERS);
  const { summary, monthlyEarnings, serverRevenue } = overview;
  const added = cents(summary?.availableBalance);
  const all = initial + added;
  expect(cents(summary?.grossRevenueYtd)).toBe(all);
  expect(cents(summary?.totalEarningsYtd) + cents(summary?.platformFeesYtd)).toBe(all);
  expect(cents(monthlyEarnings[0]?.amount)).toBe(cents(summary?.totalEarningsYtd));
  expect(sum(serverRevenue.map((server) => cents(server.grossRevenue)))).toBe(all);

  const { servers, totalRevenue, totalRentals, activeRentals } = breakdown;
  const rentals = cents(totalRevenue) - initial;
  expect(rentals).toBeGreaterThanOrEqual(added); // it was read later
  expect(sum(servers.map((server) => cents(server.totalRevenue)))).toBe(initial + rentals);
  expect(BigInt(totalRentals)).toBe(rentals);
  expect(BigInt(activeRentals)).toBe(rentals);
  expect(sum(servers.map((server) => BigInt(server.activeRentals)))).toBe(rentals);
}

it("responses show all of a transaction that moves money and adds a cent and a rental, or nothing", async () => {
  let [written, read] = [0, 0];
  const isEnough = () => Math.min(written, read) >= ROUNDS;
  const writer = async () => {
    while (!isEnough()) await move(written++);
  };
  const reader = async () => {
    for (; !isEnough(); read++) expectWhole(await respond());
  };
  await Promise.all([writer(), reader(), reader(), reader(), reader()]);
});
