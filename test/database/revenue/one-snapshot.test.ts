/**
 * A response is read from one snapshot: while transactions move money between servers or add
 * charges and rentals, no response shows part of a transaction.
 */
import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  GetOverviewRequestSchema,
  type GetOverviewResponse,
  GetServerBreakdownRequestSchema,
  type GetServerBreakdownResponse,
} from "../../../gen/revenue/v1/revenue_pb.ts";
import { createRead } from "../../../src/db/query.ts";
import type { Context } from "../../../src/handler.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { SOAK } from "../../support/soak.ts";

const NOW = Date.parse("2026-11-20T09:30:00.000Z");
const SERVERS = 12;
/** How long each test reads and writes. */
const SECONDS = 4 * SOAK;
/** The timeout of a test, in ms. */
const TIMEOUT = (SECONDS + 60) * 1_000;
/** The initial gross of each server, in cents. */
const INITIAL_GROSS = 1_000_000n;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const numbers = Array.from({ length: SERVERS }, (_, index) => index + 1);
  await database.knex("servers").insert(
    numbers.map((id) => ({
      provider_id: 1,
      id,
      uuid: `server-${id}`,
      name: `server ${id}`,
      status: "Active",
      price_per_hour: "1.0000",
    })),
  );
  await database.knex("charges").insert(numbers.map((id) => charge(id, INITIAL_GROSS)));
});
afterAll(() => database.drop());

function charge(server: number, cents: bigint) {
  const sign = cents < 0n ? "-" : "";
  const digits = String(cents < 0n ? -cents : cents).padStart(3, "0");
  return {
    provider_id: 1,
    server_id: server,
    charged_at: "2026-11-10 12:00:00.000",
    gross: `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`,
  };
}

/** An amount of a response, in cents. */
function cents(amount: { readonly value: string } | undefined): bigint {
  return BigInt((amount?.value ?? "").replace(".", ""));
}

const total = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

describe("during concurrent writes", () => {
  const service = () => createRevenueService(createRead(database.knex));
  const context = (): Context => ({
    caller: { providerId: "1" },
    now: NOW,
    signal: new AbortController().signal,
    deadline: Infinity,
  });
  const overview = async () =>
    (await service().getOverview(create(GetOverviewRequestSchema), context())).message;
  const breakdown = async () =>
    (await service().getServerBreakdown(create(GetServerBreakdownRequestSchema), context()))
      .message;

  /** Runs one writer and four readers concurrently for `SECONDS`. */
  async function writeAndRead(
    write: (round: number) => Promise<void>,
    check: (overview: GetOverviewResponse, breakdown: GetServerBreakdownResponse) => void,
  ): Promise<void> {
    const end = performance.now() + SECONDS * 1_000;
    let written = 0;
    let read = 0;
    const writer = async () => {
      while (performance.now() < end) await write(written++);
    };
    const reader = async () => {
      while (performance.now() < end) {
        check(await overview(), await breakdown());
        read++;
      }
    };
    await Promise.all([writer(), reader(), reader(), reader(), reader()]);
    expect(Math.min(written, read)).toBeGreaterThan(20);
  }

  it(
    "the totals are constant while charges move money between servers",
    async () => {
      const all = INITIAL_GROSS * BigInt(SERVERS);
      await writeAndRead(
        async (round) => {
          const amount = BigInt(round % 977) + 1n;
          const [from, to] = [(round % SERVERS) + 1, ((round * 7 + 3) % SERVERS) + 1];
          await database.knex.transaction(async (transaction) => {
            await transaction("charges").insert(charge(from, -amount));
            await transaction("charges").insert(charge(to, amount));
          });
        },
        ({ summary, monthlyEarnings, serverRevenue }, { totalRevenue, servers }) => {
          expect(cents(summary?.grossRevenueYtd)).toBe(all);
          expect(cents(summary?.totalEarningsYtd)).toBe((all * 9n) / 10n);
          expect(cents(monthlyEarnings[0]?.amount)).toBe((all * 9n) / 10n);
          expect(total(serverRevenue.map((server) => cents(server.grossRevenue)))).toBe(all);
          expect(cents(totalRevenue)).toBe(all);
          expect(total(servers.map((server) => cents(server.totalRevenue)))).toBe(all);
        },
      );
    },
    TIMEOUT,
  );

  it(
    "gross, wallet and rentals stay equal if each transaction adds one cent and one rental",
    async () => {
      const before = cents((await overview()).summary?.grossRevenueYtd);
      await database.knex("wallets").insert({ provider_id: 1, available_balance: "0.00" });
      await writeAndRead(
        async (round) => {
          const server = (round % SERVERS) + 1;
          const rental = {
            provider_id: 1,
            server_id: server,
            started_at: "2026-11-10 12:00:00.000",
          };
          await database.knex.transaction(async (transaction) => {
            await transaction("charges").insert(charge(server, 1n));
            await transaction("wallets").increment("available_balance", 0.01);
            await transaction("rentals").insert(rental);
          });
        },
        ({ summary, serverRevenue }, breakdown) => {
          const charged = cents(summary?.grossRevenueYtd) - before;
          expect(cents(summary?.availableBalance)).toBe(charged);
          expect(cents(summary?.totalEarningsYtd) + cents(summary?.platformFeesYtd)).toBe(
            cents(summary?.grossRevenueYtd),
          );
          expect(total(serverRevenue.map((server) => cents(server.grossRevenue)))).toBe(
            before + charged,
          );
          const rentals = cents(breakdown.totalRevenue) - before;
          expect(BigInt(breakdown.totalRentals)).toBe(rentals);
          expect(BigInt(breakdown.activeRentals)).toBe(rentals);
          expect(breakdown.servers.reduce((sum, { activeRentals }) => sum + activeRentals, 0)).toBe(
            breakdown.totalRentals,
          );
        },
      );
    },
    TIMEOUT,
  );
});
