/** Every fault of the past that gave a wrong figure: what the files beside this one ask (README.md). */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService, type RevenueFunctions } from "../../../src/revenue/service.ts";
import { atTimeOfCall, breakdownOf, dailyOf, overviewOf } from "../../support/ledger/call.ts";
import { databaseOfFile, deleteRows, LEDGER, ROLLUPS } from "../file-database.ts";
import { build } from "../rollup/write/built.ts";

interface Question {
  readonly ask: "overview" | "breakdown" | "days";
  readonly from?: string;
  readonly to?: string;
  readonly zone?: string;
  readonly right: object;
}

interface Fault {
  readonly fault: string;
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
  readonly watermarks: readonly string[];
  readonly now: string;
  readonly questions: readonly Question[];
}

const { knex } = await databaseOfFile(LEDGER);

const FAULTS = globSync("*.json", { cwd: import.meta.dirname })
  .sort()
  .map((file): Fault => JSON.parse(readFileSync(join(import.meta.dirname, file), "utf8")));

const ASK = {
  overview: (service: RevenueFunctions, now: string) => overviewOf(service, 1n, now),
  breakdown: (service: RevenueFunctions, now: string, { from = "", to = "", zone }: Question) =>
    breakdownOf(service, 1n, now, from, to, zone),
  days: (service: RevenueFunctions, now: string, { from = "", to = "", zone }: Question) =>
    dailyOf(service, 1n, now, from, to, zone),
};

/** When the rows of each table were written, and when they happened. */
const RECORDED = {
  charges: ["recorded_at", "charged_at"],
  rentals: ["updated_at", "started_at"],
} as const;

it.each(FAULTS)("$fault", async ({ tables, watermarks, now, questions }) => {
  for (const [table, rows] of Object.entries(tables)) {
    const [recorded, happened] = RECORDED[table as keyof typeof RECORDED];
    await knex(table).insert(
      rows.map((row) => ({ provider_id: 1, server_id: 1, [recorded]: row[happened], ...row })),
    );
  }
  for (const watermark of [undefined, ...watermarks]) {
    await deleteRows(knex, ROLLUPS);
    if (watermark !== undefined) await build(knex, "1", watermark);
    const service = createRevenueService(atTimeOfCall(createRead(knex)));
    for (const question of questions) {
      const answer = await ASK[question.ask](service, now, question);
      expect(answer, `${question.ask} with the watermark ${watermark}`).toMatchObject(
        question.right,
      );
    }
  }
});
