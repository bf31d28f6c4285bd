/**
 * A ledger whose columns are not quite ours, but right by docs/adopt.md: keys, lists, answers and rollups are the same.
 * The driver gives INT as a number and BIGINT as text, so ids that leave the database uncast do not compare.
 */
import type { JsonValue } from "@bufbuild/protobuf";
import { expect, it, onTestFinished } from "vitest";
import { hashKey } from "../../../src/auth/api-key.ts";
import { createFindKeys } from "../../../src/auth/key-lookup.ts";
import { issueKey, issueServiceKey, listKeys, revokeKey } from "../../../src/auth/key-registry.ts";
import { createFindProvider } from "../../../src/auth/provider.ts";
import { checkLedger } from "../../../src/db/contract/columns.ts";
import { LEDGER } from "../../../src/db/contract/ledger.ts";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import {
  atTimeOfCall,
  breakdownOf,
  chargesOf,
  dailyOf,
  overviewOf,
  payoutsOf,
  providersOf,
} from "../../support/ledger/call.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { databaseOfFile } from "../file-database.ts";

const { knex } = await databaseOfFile();
const read = createRead(knex);
const { signal } = new AbortController();

await smallLedger({ knex });
const second = { provider_id: 2, server_id: 2, instance_id: 2 };
await knex("charges").insert(
  [9, 10].map((id) => ({ ...second, id, charged_at: "2024-03-01", gross: id })),
);
const issued = [
  await issueKey(knex, "1", "provider's", null),
  await issueServiceKey(knex, "service's", null),
  // The order of numbers, and not of texts.
  ...(await Promise.all(Array.from({ length: 9 }, () => issueKey(knex, "2", "other", null)))),
];

/** Gives all ids of the ledger a type. */
async function setType(type: string): Promise<void> {
  for (const [table, { columns }] of Object.entries(LEDGER)) {
    const [rows] = await knex.raw("SHOW COLUMNS FROM ??", [table]);
    const ids = Object.keys(columns).filter(
      (name) => columns[name]?.kind.type === "bigint unsigned",
    );
    const changes = ids.map((name) => {
      const { Null, Extra } = rows.find(({ Field }: { Field: string }) => Field === name);
      return `MODIFY ${name} ${type} ${Null === "YES" ? "NULL" : "NOT NULL"} ${Extra}`;
    });
    await knex.raw(`ALTER TABLE ${table} ${changes.join(", ")}`);
  }
}

/** All pages of a list, of one row each, without their tokens: those of charges tell when they were asked for. */
async function pagesOf(ask: (pageToken: string) => Promise<JsonValue>): Promise<object[]> {
  const pages: object[] = [];
  for (let pageToken = ""; pages.length === 0 || pageToken !== ""; ) {
    const { nextPageToken, ...page } = (await ask(pageToken)) as { nextPageToken: string };
    pages.push(page);
    pageToken = nextPageToken;
  }
  return pages;
}

const NOW = "2024-04-15T00:00:00.000Z";
const YEAR = { startDate: "2024-01-01", endDate: "2024-04-10", pageSize: 1 };

/** What callers and operators see. */
async function seen() {
  await knex("api_keys").update({ revoked_at: null });
  const keys = await createFindKeys(read)(
    issued.map(({ key }) => hashKey(key)),
    signal,
  );
  const [ofProvider, ofService] = issued.map(
    ({ id }) => [...keys.values()].find(({ key }) => key.id === id)?.key,
  );
  if (ofProvider === undefined || ofService === undefined) return keys;
  const find = createFindProvider(read);
  const service = createRevenueService(atTimeOfCall(read));
  const call = [service, 1n, NOW] as const;
  return {
    keys,
    found: [await find(ofProvider, ["1"], signal), await find(ofService, ["2"], signal)],
    listed: await listKeys(knex),
    ofOne: (await listKeys(knex, "1")).length,
    revoked: (await revokeKey(knex, { id: issued[2]?.id ?? "" })).row.providerId,
    overview: await overviewOf(...call),
    breakdown: await breakdownOf(...call, YEAR.startDate, YEAR.endDate),
    daily: await dailyOf(...call, "2024-03-01", "2024-04-10"),
    payouts: await pagesOf((pageToken) => payoutsOf(service, 1n, { ...YEAR, pageToken }, NOW)),
    charges: await pagesOf((pageToken) => chargesOf(service, 1n, { ...YEAR, pageToken }, NOW)),
    providers: await pagesOf((pageToken) => providersOf(service, { ...YEAR, pageToken }, NOW)),
  };
}

/** That, without rollups and with them. */
async function seenBoth() {
  await knex("rollups").del();
  const raw = await seen();
  await rollUp(knex, { margin: 0, seesTransactions: false });
  const differences = (
    await Promise.all(["1", "2"].map((id) => Array.fromAsync(verify(knex, id))))
  ).flat();
  return { raw, rolledUp: await seen(), differences };
}

const expected = await seenBoth();
expect(expected).toMatchObject({ raw: { found: ["1", "2"] }, differences: [] });

/** What is told of the ledger. */
const findings = () => checkLedger(knex);

it.each(["tinyint", "smallint unsigned", "mediumint", "int", "int unsigned", "bigint"])(
  "ids of %s",
  async (type) => {
    await setType(type);
    expect(await findings()).toEqual([]);
    expect(await seenBoth()).toEqual(expected);
  },
);

it("ids with ZEROFILL are refused: the text of 7 is 0000000007", async () => {
  const right = "it must be bigint unsigned or any integer type without ZEROFILL, from 1";
  await setType("int unsigned zerofill");
  onTestFinished(() => setType("bigint unsigned"));
  expect(await findings()).toContain(`wallets.provider_id is int unsigned zerofill: ${right}`);
  await knex.raw("RENAME TABLE wallets TO their_wallets");
  await knex.raw(
    "CREATE VIEW wallets AS SELECT provider_id + 0 AS provider_id, available_balance FROM their_wallets",
  );
  expect((await findings()).join()).not.toContain("wallets");
  await knex.raw("DROP VIEW wallets");
  await knex.raw("RENAME TABLE their_wallets TO wallets");
});

it("names of columns in upper case", async () => {
  for (const [table, { columns }] of Object.entries(LEDGER)) {
    const renamed = Object.keys(columns).map(
      (name) => `RENAME COLUMN ${name} TO ${name.toUpperCase()}`,
    );
    await knex.raw(`ALTER TABLE ${table} ${renamed.join(", ")}`);
  }
  expect((await knex.raw("SHOW COLUMNS FROM wallets"))[0][0].Field).toBe("PROVIDER_ID");
  expect(await findings()).toEqual([]);
  expect(await seenBoth()).toEqual(expected);
});

it("microseconds are cut off, and a status counts as Completed in its very letters", async () => {
  await knex.raw("RENAME TABLE payouts TO their_payouts");
  await knex.raw(
    "ALTER TABLE their_payouts MODIFY paid_at DATETIME(6), MODIFY status VARCHAR(32) COLLATE utf8mb4_general_ci",
  );
  await knex.raw(`CREATE VIEW payouts AS SELECT id, provider_id, public_id,
    CAST(paid_at AS DATETIME(3)) AS paid_at, amount, method, status FROM their_payouts`);
  const last = { provider_id: 2, paid_at: "2023-12-31 23:59:59.999999", method: "" };
  await knex("their_payouts").insert(
    ["Completed", "completed", "Completed ", "Pending"].map((status, nth) => ({
      ...{ ...last, status, amount: 2 ** nth, public_id: status },
    })),
  );
  const service = createRevenueService(atTimeOfCall(read));
  const year = { startDate: "2023-01-01", endDate: "2023-12-31" };
  expect(await providersOf(service, year, NOW)).toMatchObject({
    providers: [{}, { completedPayouts: { value: "1.00" }, otherPayouts: { value: "14.00" } }],
  });
  expect(await payoutsOf(service, 2n, year, NOW)).toMatchObject({
    payouts: Array(4).fill({ date: "2023-12-31T23:59:59.999Z" }),
  });
});
