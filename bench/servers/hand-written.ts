/**
 * A peer: a hand-written Fastify route on mysql2 for the overview, with the service's SQL, key
 * lookup and JSON. It has no deadlines, log, limits or error handling.
 */
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { createPool } from "mysql2/promise";
import { fullOverview } from "../../src/revenue/overview/queries.ts";

type Row = (string | null)[];

const KEY_BY_HASH = "SELECT provider_id FROM api_keys WHERE key_hash = ?";

/** `JSON.rawJSON`, a JSON number with exactly these digits. TypeScript has no type for it yet. */
const raw = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

const MONTH_NAMES =
  "January February March April May June July August September October November December".split(
    " ",
  );

const pool = createPool({
  uri: process.env.DATABASE_URL ?? "",
  timezone: "Z",
  dateStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
  rowsAsArray: true,
  connectionLimit: 10,
});
const app = fastify();

app.get("/api/provider/revenue", async (request, reply) => {
  const hash = createHash("sha256").update(String(request.headers["x-api-key"])).digest();
  const [keys] = (await pool.query(KEY_BY_HASH, [hash])) as unknown as [Row[]];
  const provider = keys[0]?.[0];
  if (!provider) return reply.code(401).send({ error: "Unauthorized" });

  const now = new Date();
  const months = Array.from(
    { length: 12 },
    (_, ago) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)),
  );
  const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
  const values = {
    provider,
    firstMonth: sql(months[11] ?? now),
    nextMonth: sql(nextMonth),
    now: sql(now),
  };
  const [rows] = (await pool.query(
    fullOverview.sql,
    fullOverview.parameters.map((name) => values[name]),
  )) as unknown as [Row[]];

  let balance = 0n;
  const byMonth = new Map<string, bigint>();
  const byServer = new Map<string, bigint>();
  const servers: string[][] = [];
  const payouts: string[][] = [];
  for (const [tag, ...columns] of rows as string[][]) {
    // The index of the row's branch in the UNION ALL (src/db/statement.ts).
    const query = Number(tag);
    const [first = "", second = "", , fourth = "", fifth = ""] = columns;
    if (query === 0) add(byMonth, monthOf(now), -cents(fifth.split(" ")[1] ?? "0.00"));
    else if (query === 1) balance = cents(first);
    else if (query === 2) servers.push(columns);
    else if (query === 3) {
      add(byServer, first, cents(fourth));
      add(byMonth, second, cents(fifth));
    } else if (query === 4) payouts.push(columns);
    else if (query === 5) add(byMonth, first, cents(second));
    else add(byServer, first, cents(second));
  }

  const monthly = months.map((month) => {
    const gross = byMonth.get(monthOf(month)) ?? 0n;
    return { gross, year: month.getUTCFullYear(), name: MONTH_NAMES[month.getUTCMonth()] ?? "" };
  });
  const ytd = monthly
    .filter(({ year }) => year === now.getUTCFullYear())
    .reduce((sum, { gross }) => sum + gross, 0n);

  const body = {
    summary: {
      totalEarningsYTD: money(ytd - fee(ytd)),
      platformFeesYTD: money(fee(ytd)),
      grossRevenueYTD: money(ytd),
      currentMonthEarnings: money((monthly[0]?.gross ?? 0n) - fee(monthly[0]?.gross ?? 0n)),
      availableBalance: money(balance),
    },
    monthlyEarnings: monthly.map(({ gross, year, name }) => ({
      month: `${name} ${year}`,
      monthAbbreviation: name.slice(0, 3),
      amount: money(gross - fee(gross)),
    })),
    serverRevenue: servers
      .filter(([id = "", , , , deleted]) => deleted === "0" || byServer.has(id))
      .map(([id = "", uuid, name = "", price = ""]) => {
        const gross = byServer.get(id) ?? 0n;
        const rate = BigInt(price.replace(".", ""));
        return { id: Number(id), uuid, name, price, gross, rate };
      })
      .sort(
        (a, b) =>
          Number(b.gross - a.gross) || (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id - b.id),
      )
      .map(({ uuid, name, price, gross, rate }) => ({
        serverId: uuid,
        serverName: name,
        pricePerHour: raw(price.replace(/0{1,2}$/, "")),
        totalEarnings: money(gross - fee(gross)),
        platformFees: money(fee(gross)),
        grossRevenue: money(gross),
        totalHours: money(rate === 0n ? 0n : (gross * 10_000n + rate / 2n) / rate),
      })),
    recentPayouts: payouts.map(([id, paidAt = "", amount = "", method, status]) => ({
      payoutId: id,
      date: `${paidAt.replace(" ", "T").replace(".000", "")}Z`,
      amount: raw(amount),
      method,
      status,
    })),
  };
  return reply.type("application/json; charset=utf-8").send(JSON.stringify(body));
});

await app.listen({ host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ httpPort: (app.server.address() as AddressInfo).port }));
process.on("SIGTERM", () => process.exit(0));

function monthOf(date: Date): string {
  return `${date.getUTCFullYear()}${String(date.getUTCMonth() + 1).padStart(2, "0")}`;
}

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function cents(text: string): bigint {
  return BigInt(text.replace(".", ""));
}

function fee(gross: bigint): bigint {
  return (gross + (gross < 0n ? -5n : 5n)) / 10n;
}

function money(amount: bigint): unknown {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(3, "0");
  return raw(`${amount < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`);
}

function sql(date: Date): string {
  return date.toISOString().replace("T", " ").slice(0, 23);
}
