/**
 * Compares what your own tables say with what the service says, for each provider and month, and prints what differs:
 *
 *   npx node examples/adopt/compare.ts QUERY.sql FIRST_MONTH [LAST_MONTH]
 *   npx node examples/adopt/compare.ts QUERY.sql FIRST_MONTH/LAST_MONTH
 *
 * The query is yours, in a file: one SELECT over your own tables, and none of the service's, with a row for each provider
 * and month (`2026-01`) in UTC: provider, month, gross, refunds (0 or below, a part of gross), charges (their number). It
 * takes what is dated from @start on and before @end. shop/compare.sql and depot/compare.sql are two of them. What it
 * leaves out is not compared: without months, as where changes of an order are charges of their own day (tier 1), compare
 * the months of all years as one, with a slash. completed_payouts, other_payouts (of any other status), balance (of now)
 * and rented_hours are compared, too, where a query has them: best in files of their own. A wrong zone differs only
 * where something is dated near the edge of a month, or of yesterday, which each night's run has anew.
 *
 * Needs LEDGER_URL, an account that may read your tables, and REVENUE_GRPC and REVENUE_SERVICE_KEY as the other programs
 * over gRPC. Ends with 0 if all is the same, and there was something to compare. The last month ends with yesterday.
 */
import { readFile } from "node:fs/promises";
import mysql from "mysql2";
import { createConnection } from "mysql2/promise";
import { PlatformRevenueService, type ProviderRevenue } from "../../gen/revenue/v1/platform_pb.ts";
import { call, close } from "../typescript/grpc.mts";

/** What is compared, by the names of columns, and how the service says it. */
const FIGURES: Readonly<Record<string, (row: ProviderRevenue) => string | undefined>> = {
  gross: (row) => row.grossRevenue?.value,
  refunds: (row) => row.refunds?.value,
  charges: (row) => String(row.charges),
  completed_payouts: (row) => row.completedPayouts?.value,
  other_payouts: (row) => row.otherPayouts?.value,
  balance: (row) => row.availableBalance?.value,
  rented_hours: (row) => row.rentedHours?.value,
};
/** Of a provider in a month, by column: decimal text, which is never a floating point number. */
type Figures = Readonly<Record<string, string>>;

const PAGE_SIZE = 1_000;
const DAY = 86_400_000;
const today = new Date().toISOString().slice(0, 10);
const dayBefore = (day: string) => new Date(Date.parse(day) - DAY).toISOString().slice(0, 10);

const [file = "", span = "", until = dayBefore(today).slice(0, 7)] = process.argv.slice(2);
const [first = "", last = until] = span.split("/");
const { LEDGER_URL } = process.env;
if (!/^\d{4}-\d\d$/.test(first) || !/^\d{4}-\d\d$/.test(last) || !LEDGER_URL) {
  console.error(
    "usage: LEDGER_URL=mysql://… compare.ts QUERY.sql FIRST_MONTH[/LAST_MONTH | LAST_MONTH]",
  );
  process.exit(2);
}

/** The first day of the month after one. */
function monthAfter(month: string): string {
  const [year, number] = month.split("-").map(Number);
  return new Date(Date.UTC(year ?? 0, number ?? 0)).toISOString().slice(0, 10);
}

/** The months that are compared, each up to yesterday at most: what is dated today still comes. */
const months: { month: string; start: string; end: string }[] = [];
for (let month = first; month <= last && `${month}-01` < today; ) {
  const [start, next] = [`${month}-01`, monthAfter(month)];
  months.push({ month, start, end: [next, today].toSorted()[0] ?? next });
  month = next.slice(0, 7);
}
const [begin, end] = [months[0], months.at(-1)];
if (span.includes("/") && begin !== undefined && end !== undefined)
  months.splice(0, Infinity, { month: span, start: begin.start, end: end.end });
type Month = (typeof months)[number];

const ledger = await createConnection({
  uri: LEDGER_URL,
  timezone: "Z",
  dateStrings: true,
  supportBigNumbers: true,
  bigNumberStrings: true,
});
const query = (await readFile(file, "utf8")).trim().replace(/;$/, "");

/** What your tables say of a month, by provider, and of which figures. */
async function askLedger({ month, start, end }: Month) {
  await ledger.query("SET @start = CAST(? AS DATETIME(3)), @end = CAST(? AS DATETIME(3))", [
    start,
    end,
  ]);
  const [rows, columns] = await ledger.query<never[]>(query);
  for (const { name, columnType } of columns) {
    if (name !== "provider" && name !== "month" && !Object.hasOwn(FIGURES, name))
      throw new Error(`there is no figure ${name}: there are ${Object.keys(FIGURES).join(", ")}`);
    if (columnType === mysql.Types.FLOAT || columnType === mysql.Types.DOUBLE)
      throw new Error(
        `${name} is a floating point number, which is not exact: CAST it to a DECIMAL`,
      );
  }
  const names = columns.map(({ name }) => name).filter((name) => Object.hasOwn(FIGURES, name));
  if (names.length === 0) throw new Error("the query has no figure to compare");
  const found = new Map<string, Figures>();
  for (const row of rows as Record<string, unknown>[]) {
    const id = String(row.provider ?? "NULL");
    if (row.month !== undefined && String(row.month) !== month)
      throw new Error(
        `provider ${id} has a row of month ${row.month} from ${start} on and before ${end}`,
      );
    if (found.has(id)) throw new Error(`provider ${id} has two rows of ${month}`);
    found.set(id, Object.fromEntries(names.map((name) => [name, String(row[name])])));
  }
  return { names, found };
}

/** What the service says of a month, by provider. */
async function askService({ start, end }: Month): Promise<Map<string, ProviderRevenue>> {
  const found = new Map<string, ProviderRevenue>();
  let pageToken = "";
  do {
    const request = { startDate: start, endDate: dayBefore(end), pageSize: PAGE_SIZE, pageToken };
    const page = await call(PlatformRevenueService.method.listProviderRevenue, request);
    for (const row of page.providers) {
      if (found.has(row.providerId))
        throw new Error(`the service has provider ${row.providerId} twice`);
      found.set(row.providerId, row);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

/** Decimal text in units of 10^-9: the digits of any DECIMAL of money. */
function unitsOf(text: string): bigint {
  const [, sign, whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (whole === "") throw new Error(`expected a decimal number, got ${text}`);
  const units = BigInt(whole + fraction.padEnd(9, "0"));
  return sign === "-" ? -units : units;
}

/** What differs in a month, a line each, and how many charges the service has. */
async function compare(month: Month): Promise<{ lines: string[]; charges: bigint }> {
  const { names, found: ours } = await askLedger(month);
  const theirs = await askService(month);
  const lines: string[] = [];
  let charges = 0n;
  for (const id of new Set([...ours.keys(), ...theirs.keys()])) {
    const row = theirs.get(id);
    charges += BigInt(row?.charges ?? 0);
    const texts = names.flatMap((name) => {
      const mine = ours.get(id)?.[name] ?? "0";
      const its = row === undefined ? "0" : (FIGURES[name]?.(row) ?? "");
      if (unitsOf(mine) === unitsOf(its)) return [];
      return [`${name}: your tables ${mine}, the service ${its}`];
    });
    if (texts.length === 0) continue;
    const missing = row === undefined ? " (the service has no such provider)" : "";
    lines.push(`${month.month} provider ${id}${missing}: ${texts.join("; ")}`);
  }
  return { lines, charges };
}

try {
  await ledger.query("SET SESSION TRANSACTION READ ONLY");
  await ledger.query("SET time_zone = '+00:00'");
  const differences: string[] = [];
  let all = 0n;
  for (const month of months) {
    let { lines, charges } = await compare(month);
    // A row that was written between both questions is in both answers the second time.
    if (lines.length > 0) ({ lines, charges } = await compare(month));
    differences.push(...lines);
    all += charges;
  }
  for (const line of differences) console.log(line);
  if (all === 0n)
    throw new Error("nothing was compared: the service has no charge in these months");
  console.log(`months compared: ${months.length}, differences: ${differences.length}`);
  if (differences.length > 0) process.exitCode = 1;
} catch (error) {
  const { details, message } = error as Error & { details?: string };
  console.error(details ?? message);
  process.exitCode = 1;
} finally {
  close();
  await ledger.end();
}
