/**
 * A peer: a hand-written Fastify route on mysql2 for the overview, with SQL of its own that
 * reads the same rows, and the service's key lookup and JSON. It has no deadlines, log, limits or error handling.
 */
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import { fastify } from "fastify";
import { createPool } from "mysql2/promise";
import { FORMAT } from "../../src/rollup/sums.ts";

type Row = (string | null)[];

const KEY_BY_HASH = "SELECT provider_id FROM api_keys WHERE key_hash = :hash";

/** `JSON.rawJSON`, a JSON number with exactly these digits. TypeScript has no type for it yet. */
const raw = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;

const MONTH_NAMES =
  "January February March April May June July August September October November December".split(
    " ",
  );

const ROLLUP = `rollups WHERE provider_id = :provider AND format = ${FORMAT} AND building = 0`;
const WATERMARK = `(SELECT watermark FROM ${ROLLUP})`;
const sums = (total: number) =>
  `rollup_sums WHERE provider_id = :provider AND format = ${FORMAT} AND slot = (SELECT slot FROM ${ROLLUP}) AND total = ${total}`;
const charges = (condition: string) =>
  `SELECT 'charges', server_id, MAX(EXTRACT(YEAR_MONTH FROM charged_at)), SUM(gross), NULL FROM charges
   WHERE provider_id = :provider AND ${condition} GROUP BY server_id, EXTRACT(YEAR_MONTH FROM charged_at)`;
/** The covered gross before an instant, or up to the watermark. */
const before = (ago: number, condition: string) =>
  `SELECT 'before', ${ago}, COALESCE((SELECT gross FROM ${sums(1)} ${condition} ORDER BY at DESC LIMIT 1), 0.00), NULL, NULL`;

/** All rows of an overview, for a provider with a rollup. */
const OVERVIEW = [
  "SELECT 'balance', available_balance, NULL, NULL, NULL FROM wallets WHERE provider_id = :provider",
  "SELECT 'server', id, uuid, name, CONCAT(price_per_hour, ' ', deleted_at IS NOT NULL) FROM servers WHERE provider_id = :provider",
  `(SELECT 'payout', public_id, paid_at, amount, CONCAT(method, '|', status) FROM payouts
    WHERE provider_id = :provider ORDER BY paid_at DESC, id DESC LIMIT 10)`,
  charges(`recorded_at > ${WATERMARK} AND charged_at <= ${WATERMARK}`),
  charges(`charged_at > ${WATERMARK} AND charged_at <= UTC_TIMESTAMP(3)`),
  before(-1, ""),
  ...Array.from({ length: 12 }, (_, ago) => before(ago, `AND at <= :month${ago}`)),
  `SELECT 'lifetime', server_id, SUM(gross), NULL, NULL FROM ${sums(0)}
   AND at = (SELECT MAX(at) FROM ${sums(0)}) AND charges > 0 GROUP BY server_id`,
].join("\nUNION ALL ");

const pool = createPool({
  namedPlaceholders: true,
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
  const [keys] = (await pool.query(KEY_BY_HASH, { hash })) as unknown as [Row[]];
  const provider = keys[0]?.[0];
  if (!provider) return reply.code(401).send({ error: "Unauthorized" });

  const now = new Date();
  const months = Array.from(
    { length: 12 },
    (_, ago) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)),
  );
  const starts = months.map((month, ago) => [`month${ago}`, sql(month)]);
  const values = { provider, ...Object.fromEntries(starts) };
  const [rows] = (await pool.query(OVERVIEW, values)) as unknown as [Row[]];

  let balance = 0n;
  const byMonth = new Map<string, bigint>();
  const byServer = new Map<string, bigint>();
  const servers: string[][] = [];
  const payouts: string[][] = [];
  for (const [query, ...columns] of rows as string[][]) {
    const [first = "", second = "", third = ""] = columns;
    if (query === "balance") balance = cents(first);
    else if (query === "server") servers.push(columns);
    else if (query === "payout") payouts.push(columns);
    else if (query === "lifetime") add(byServer, first, cents(second));
    else if (query === "before") {
      // What is dated before a month is not in it, but in one before.
      const ago = Number(first);
      if (ago >= 0) add(byMonth, monthOf(months[ago] ?? now), -cents(second));
      if (ago < 11) add(byMonth, monthOf(months[ago + 1] ?? now), cents(second));
    } else {
      add(byServer, first, cents(third));
      add(byMonth, second, cents(third));
    }
  }

  const monthly = months.map((month) => {
    const gross = byMonth.get(monthOf(month)) ?? 0n;
    const name = MONTH_NAMES[month.getUTCMonth()] ?? "";
    return { gross, year: month.getUTCFullYear(), name, start: instant(month) };
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
    monthlyEarnings: monthly.map(({ gross, year, name, start }) => ({
      month: `${name} ${year}`,
      monthAbbreviation: name.slice(0, 3),
      amount: money(gross - fee(gross)),
      startTime: start,
    })),
    serverRevenue: servers
      .filter(([id = "", , , rest = ""]) => rest.endsWith(" 0") || byServer.has(id))
      .map(([id = "", uuid, name = "", rest = ""]) => {
        const [price = ""] = rest.split(" ");
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
    recentPayouts: payouts.map(([id, paidAt = "", amount = "", rest = ""]) => ({
      payoutId: id,
      date: `${paidAt.replace(" ", "T").replace(".000", "")}Z`,
      amount: raw(amount),
      method: rest.split("|")[0],
      status: rest.split("|")[1],
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

/** An instant without milliseconds, as JSON. */
function instant(date: Date): string {
  return date.toISOString().replace(".000Z", "Z");
}

function sql(date: Date): string {
  return date.toISOString().replace("T", " ").slice(0, 23);
}
