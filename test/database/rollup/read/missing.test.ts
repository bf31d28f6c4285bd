/** A rollup that is missing is told where runs should have built it, and nowhere else. */
import { expect, it } from "vitest";
import { createRead } from "../../../../src/db/query.ts";
import { ServiceError, type ServiceErrorKind } from "../../../../src/errors.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { createLagLog } from "../../../../src/rollup/read/lag-log.ts";
import { MIN_ROWS } from "../../../../src/rollup/size.ts";
import { collectLog } from "../../../support/collected-log.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { STATEMENTS, type StatementName } from "../../../support/statements.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";
import { wrapped } from "./compared.ts";

const { knex } = await databaseOfFile(["providers", "wallets", "servers", "instances", ...LEDGER]);

/** Fills the ledger: all rows are recorded some minutes ago. */
async function fill(charges: number, minutes: number, rentals = 0): Promise<void> {
  await addBulk(knex, [{ provider: 1, servers: 2, instances: 2, charges, rentals }]);
  const recorded = knex.raw("UTC_TIMESTAMP(3) - INTERVAL ? MINUTE", [minutes]);
  await knex("charges").update({ recorded_at: recorded });
  await knex("rentals").update({ updated_at: recorded });
}

/** Asks for an overview while one statement fails. Resolves to what is told of the rollup, and how often the size was asked for. */
async function ask(failing?: StatementName, kind: ServiceErrorKind = "deadlineExceeded") {
  const { log, entries } = collectLog();
  const told: string[] = [];
  const reads: Promise<unknown>[] = [];
  let counted = 0;
  const read = wrapped(createRead(knex), (query) => async (sql, ...rest) => {
    if (sql === STATEMENTS.size.sql) counted++;
    if (failing !== undefined && sql === STATEMENTS[failing].sql) throw new ServiceError(kind);
    return query(sql, ...rest);
  });
  const service = createRevenueService(
    (work, options) => {
      const reading = read(work, options);
      reads.push(reading.catch(() => {}));
      return reading;
    },
    { reportLag: createLagLog(log, (_provider, _lag, state) => void told.push(state)) },
  );
  const call = { caller: { providerId: "1", share: "1" }, signal: new AbortController().signal };
  const request = { $typeName: "revenue.v1.GetOverviewRequest" } as const;
  const error = await service.getOverview(request, call).catch((thrown) => thrown.kind);
  await Promise.all(reads);
  await new Promise(setImmediate);
  return { told, counted, lines: entries(), error };
}

const missing = { level: "warn", providerId: "1", msg: "provider has no rollup" };

it.each([
  ["one too few charges: nothing is told, nor asked", MIN_ROWS - 1, 31, "current", 0],
  ["enough that are new: no run can have come", MIN_ROWS, 1, "current", 1],
  ["enough for half an hour: it is missing", MIN_ROWS, 31, "missing", 1],
])("%s", async (_, charges, minutes, state, counted) => {
  await fill(charges, minutes);
  const lines = state === "missing" ? [{ ...missing, uncoveredCharges: charges }] : [];
  expect(await ask()).toMatchObject({ told: [state], counted, lines });
});

it.each([
  ["of a small provider tells nothing", MIN_ROWS - 1, 0, "current"],
  ["of a large one tells that its rollup is missing", MIN_ROWS, 0, "missing"],
  ["of one with as many rentals, too", 10, MIN_ROWS, "missing"],
])("a read that comes too late %s", async (_, charges, rentals, state) => {
  await fill(charges, 31, rentals);
  const lines = state === "missing" ? [missing] : [];
  const error = "deadlineExceeded";
  expect(await ask("rawOverview")).toMatchObject({ told: [state], lines, error });
});

it("if the size cannot be asked for, nothing is told", async () => {
  await fill(MIN_ROWS, 31);
  expect(await ask("size", "databaseUnavailable")).toMatchObject({ told: [], lines: [] });
});
