/**
 * A response is read from one snapshot: while transactions move money between servers and add a cent and a rental, no
 * response shows part of a transaction.
 */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { usd } from "../../support/ledger/amounts.ts";
import { atTimeOfCall, breakdownOf, overviewOf } from "../../support/ledger/call.ts";
import { SOAK } from "../../support/soak.ts";
import { databaseOfFile } from "../file-database.ts";

const NOW = "2026-11-20T09:30:00.000Z";
const AT = "2026-11-10 12:00:00.000";
const SERVERS = Array.from({ length: 12 }, (_, nth) => nth + 1);
/** How many transactions are written and how many responses are checked, at least. */
const ROUNDS = 60 * SOAK;
/** The initial gross of each server, in cents. */
const INITIAL = 1_000_000;

const { knex } = await databaseOfFile();
const charge = (server_id: number, cents: number) => {
  return { provider_id: 1, server_id, charged_at: AT, gross: usd(BigInt(cents)).value };
};
const server = { provider_id: 1, name: "server", status: "Active", price_per_hour: "1.0000" };
await knex("servers").insert(SERVERS.map((id) => ({ ...server, id, uuid: `${id}` })));
await knex("charges").insert(SERVERS.map((id) => charge(id, INITIAL)));
await knex("wallets").insert({ provider_id: 1, available_balance: "0.00" });

type Amount = { readonly value: string };
type Json<Name extends string> = { readonly [name in Name]: Amount };
const cents = ({ value }: Amount) => Number(value.replace(".", ""));
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Moves money from one server to another, and adds a cent and a rental. */
async function move(round: number): Promise<void> {
  const amount = (round % 977) + 1;
  const [from, to] = [(round % 12) + 1, ((round * 7 + 3) % 12) + 1];
  await knex.transaction(async (transaction) => {
    await transaction("charges").insert(charge(from, -amount));
    await transaction("charges").insert(charge(to, amount + 1));
    await transaction("wallets").increment("available_balance", 0.01);
    const started = { provider_id: 1, server_id: to, started_at: AT };
    await transaction("rentals").insert(started);
  });
}

/** Expects the responses of a service with an empty cache to show whole transactions only. */
async function expectWhole(): Promise<void> {
  const service = createRevenueService(atTimeOfCall(createRead(knex)));
  const all = INITIAL * SERVERS.length;
  const { summary, serverRevenue } = (await overviewOf(service, 1n, NOW)) as unknown as {
    summary: Json<"availableBalance" | "grossRevenueYTD">;
    serverRevenue: Json<"grossRevenue">[];
  };
  const added = cents(summary.availableBalance);
  expect(cents(summary.grossRevenueYTD)).toBe(all + added);
  expect(sum(serverRevenue.map(({ grossRevenue }) => cents(grossRevenue)))).toBe(all + added);

  type Figures = Json<"totalRevenue"> & Record<"totalRentals" | "activeRentals", number>;
  const breakdown = (await breakdownOf(service, 1n, NOW, "", "")) as unknown as Figures & {
    servers: Figures[];
  };
  const later = cents(breakdown.totalRevenue) - all;
  expect(later).toBeGreaterThanOrEqual(added);
  expect(sum(breakdown.servers.map((server) => cents(server.totalRevenue)))).toBe(all + later);
  expect([breakdown.totalRentals, breakdown.activeRentals]).toEqual([later, later]);
  expect(sum(breakdown.servers.map((server) => server.activeRentals))).toBe(later);
}

it("responses show all of a transaction that moves money and adds a cent and a rental, or nothing", async () => {
  let [written, read] = [0, 0];
  const isEnough = () => Math.min(written, read) >= ROUNDS;
  const writer = async () => {
    while (!isEnough()) await move(written++);
  };
  const reader = async () => {
    for (; !isEnough(); read++) await expectWhole();
  };
  await Promise.all([writer(), reader(), reader(), reader(), reader()]);
});
