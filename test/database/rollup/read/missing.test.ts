/** A rollup that is missing is told where runs should have built it, and nowhere else. */
import { expect, it } from "vitest";
import { createRead, type Read } from "../../../../src/db/query.ts";
import { ServiceError } from "../../../../src/errors.ts";
import { createRevenueService } from "../../../../src/revenue/service.ts";
import { createLagLog } from "../../../../src/rollup/read/lag-log.ts";
import { sizeStatement } from "../../../../src/rollup/read/missing.ts";
import { MIN_ROWS } from "../../../../src/rollup/size.ts";
import { collectLog } from "../../../support/collected-log.ts";
import { addBulk } from "../../../support/rollup/bulk.ts";
import { STATEMENTS } from "../../../support/statements.ts";
import { databaseOfFile, LEDGER } from "../../file-database.ts";

const { knex } = await databaseOfFile(["providers", "wallets", "servers", "instances", ...LEDGER]);

const MINUTE = 60_000;

/** Fills the ledger: all rows are recorded some time ago. */
async function fill(charges: number, age: number, rentals = 0): Promise<void> {
  await addBulk(knex, [{ provider: 1, servers: 2, instances: 2, charges, rentals }]);
  const recorded = knex.raw("UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND", [age * 1_000]);
  await knex("charges").update({ recorded_at: recorded });
  await knex("rentals").update({ updated_at: recorded });
}

/** Asks for an overview. Resolves to what is told of the rollup, and whether the size was asked for. */
async function ask(read: Read = createRead(knex)) {
  const { log, entries } = collectLog();
  const told: string[] = [];
  const counted: Promise<unknown>[] = [];
  const reads: Promise<unknown>[] = [];
  const observed: Read = (work, options) => {
    const reading = read(
      (session) =>
        work({
          ...session,
          query: (sql, ...rest) => {
            const rows = session.query(sql, ...rest);
            if (sql === sizeStatement.sql) counted.push(rows);
            return rows;
          },
        }),
      options,
    );
    reads.push(reading.catch(() => {}));
    return reading;
  };
  const service = createRevenueService(observed, {
    reportLag: createLagLog(log, (_provider, _lag, state) => void told.push(state)),
  });
  const call = { caller: { providerId: "1" }, signal: new AbortController().signal } as never;
  const request = { $typeName: "revenue.v1.GetOverviewRequest" } as const;
  const error = await service.getOverview(request, call).catch((thrown) => thrown.kind);
  await Promise.all(reads);
  await new Promise(setImmediate);
  return { told, counted: counted.length, lines: entries(), error };
}

/** A `Read` whose statement over the ledger takes too long. */
const tooLate: Read = (work, options) =>
  createRead(knex)(
    (session) =>
      work({
        ...session,
        query: (sql, ...rest) => {
          if (sql === STATEMENTS.rawOverview.sql) throw new ServiceError("deadlineExceeded");
          return session.query(sql, ...rest);
        },
      }),
    options,
  );

const line = { level: "warn", providerId: "1", msg: "provider has no rollup" };

it.each([
  ["one too few charges: nothing is told, nor asked", MIN_ROWS - 1, 31, 0, ["current"], 0],
  ["enough that are new: no run can have come", MIN_ROWS, 1, 0, ["current"], 1],
  ["enough for half an hour: it is missing", MIN_ROWS, 31, 0, ["missing"], 1],
])("%s", async (_, charges, minutes, rentals, states, asked) => {
  await fill(charges, minutes * MINUTE, rentals);
  const { told, counted, lines } = await ask();
  expect({ told, counted }).toEqual({ told: states, counted: asked });
  expect(lines).toMatchObject(
    states[0] === "missing" ? [{ ...line, uncoveredCharges: charges }] : [],
  );
});

it.each([
  ["of a small provider tells nothing", MIN_ROWS - 1, 0, "current"],
  ["of a large one tells that its rollup is missing", MIN_ROWS, 0, "missing"],
  ["of one with as many rentals, too", 10, MIN_ROWS, "missing"],
])("a read that comes too late %s", async (_, charges, rentals, state) => {
  await fill(charges, 31 * MINUTE, rentals);
  const { told, lines, error } = await ask(tooLate);
  expect({ told, error }).toEqual({ told: [state], error: "deadlineExceeded" });
  expect(lines).toMatchObject(state === "missing" ? [line] : []);
});

it("if the size cannot be asked for, nothing is told", async () => {
  await fill(MIN_ROWS, 31 * MINUTE);
  const failing: Read = (work, options) =>
    createRead(knex)(
      (session) =>
        work({
          ...session,
          query: (sql, ...rest) => {
            if (sql === sizeStatement.sql) throw new ServiceError("databaseUnavailable");
            return session.query(sql, ...rest);
          },
        }),
      options,
    );
  expect(await ask(failing)).toMatchObject({ told: [], lines: [] });
});
