/**
 * Writes what each provider earned in a period to a CSV file: node nightly.mts 2026-11-01 2026-11-30 november.csv.
 * Needs what grpc.mts says. A run that was stopped, or failed, is gone on with by the same command: until the file
 * is complete, its rows are in november.csv.part, and how far they go in november.csv.next.
 */
import { existsSync } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import type { ServiceError } from "@grpc/grpc-js";
import { decimal, PlatformRevenueService, type ProviderRevenue } from "revenue-service-client";
import { call, close } from "./grpc.mts";

const PAGE_SIZE = 1_000;
const HEADER =
  "providerId,name,grossRevenue,refunds,platformFees,earnings,completedPayouts,otherPayouts,availableBalance\r\n";

const [startDate = "", endDate = "", file = ""] = process.argv.slice(2);
if (file === "") {
  console.error("usage: node nightly.mts START END FILE");
  process.exit(2);
}
const [part, next] = [`${file}.part`, `${file}.next`];

/** Where an export goes on: the token of the next page, and the bytes of the part that belong to the pages before. */
interface Place {
  readonly pageToken: string;
  readonly bytes: number;
}

/** Quoted, with an apostrophe before what a spreadsheet would run. */
function text(name: string): string {
  return `"${name.replace(/^(?=[\s"]*[=+\-@＝＋－＠])/, "'").replaceAll('"', '""')}"`;
}

function line(row: ProviderRevenue): string {
  const { grossRevenue, refunds, platformFees, earnings, completedPayouts } = row;
  const amounts = [grossRevenue, refunds, platformFees, earnings, completedPayouts];
  const others = [row.otherPayouts, row.availableBalance];
  return `${[row.providerId, text(row.name), ...[...amounts, ...others].map(decimal)].join()}\r\n`;
}

/** Replaced in one step, so that a run which is stopped meanwhile leaves the old place or the new one. */
async function keep(place: Place): Promise<void> {
  await writeFile(`${next}.new`, JSON.stringify(place), { flush: true });
  await rename(`${next}.new`, next);
}

async function writeAll(): Promise<void> {
  const begun = existsSync(next);
  let place: Place = begun ? JSON.parse(await readFile(next, "utf8")) : { pageToken: "", bytes: 0 };
  const output = await open(part, begun ? "r+" : "w");
  try {
    await output.truncate(place.bytes); // what was written of a page that is read again
    do {
      const request = { startDate, endDate, pageSize: PAGE_SIZE, pageToken: place.pageToken };
      const page = await call(PlatformRevenueService.method.listProviderRevenue, request);
      const header = place.bytes === 0 ? HEADER : "";
      const rows = Buffer.from(header + page.providers.map(line).join(""));
      await output.write(rows, 0, rows.length, place.bytes);
      await output.sync();
      place = { pageToken: page.nextPageToken, bytes: place.bytes + rows.length };
      if (place.pageToken !== "") await keep(place);
    } while (place.pageToken !== "");
  } finally {
    await output.close();
  }
  await rename(part, file);
  await rm(next, { force: true });
}

try {
  await writeAll();
} catch (thrown) {
  const { details, message } = thrown as ServiceError;
  console.error(`${details ?? message}; the same command goes on where this run has stopped`);
  process.exitCode = 1;
} finally {
  close();
}
