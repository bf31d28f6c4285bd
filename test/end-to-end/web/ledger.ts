/** The data of the tests of the pages: the demo's, with names, amounts and statuses that hardly occur, and more providers. */
import type { Knex } from "knex";
import { seed } from "../../../dev/demo-data/seed.ts";

/** The name of a server, which a spreadsheet would run, and which turns what follows round. */
export const FORMULA = '=HYPERLINK("x")\u202e';
const daysAgo = (days: number) => Temporal.Now.plainDateISO("UTC").subtract({ days }).toString();
/** A day with more refunds than charges. */
const REFUNDED = daysAgo(3);
/** One that is larger than all others. */
export const LARGE = daysAgo(5);
/** A provider of which nothing is known, and one with many servers. */
export const [EMPTY, LARGEST] = ["101", "102"];
/** Its servers, with ids from 1020000 on, of which the last has earned the most. */
export const SERVERS = 2_000;
/** Its payouts: more than the page asks for at once; the last of those is older than it needs. */
export const PAYOUTS = 501;

/** Fills an empty database. The first provider is the demo's. */
export async function fillLedger({ knex }: { readonly knex: Knex }): Promise<void> {
  await seed(knex, Date.now(), () => undefined);
  await addExtremes(knex);
  await knex("providers").insert({ id: EMPTY, name: "nothing" });
  await addLargest(knex);
}

async function addExtremes(knex: Knex): Promise<void> {
  const [first, second] = await knex("servers").where({ provider_id: 1 }).orderBy("id");
  await knex("servers").where({ id: first.id }).update({ name: FORMULA });
  const long = "a-name-without-a-space".repeat(10);
  await knex("servers").where({ id: second.id }).update({ name: long });
  for (const [day, gross] of Object.entries({ [REFUNDED]: "-98765.05", [LARGE]: "1234567.89" })) {
    const charged = { charged_at: `${day} 00:00:00.000`, gross };
    await knex("charges").insert({ provider_id: 1, server_id: first.id, ...charged });
  }
  await knex("wallets").where({ provider_id: 1 }).update({ available_balance: "1250.50" });
  // Of the latest ten two have failed, and one has a status that nobody knows; the eleventh has failed too.
  const latest = await knex("payouts").where({ provider_id: 1 }).orderBy("paid_at", "desc");
  const update = (nth: number, status: string) =>
    knex("payouts").where({ id: latest[nth].id }).update({ status });
  await Promise.all([update(2, "Queued"), ...[1, 9, 10].map((nth) => update(nth, "Failed"))]);
}

async function addLargest(knex: Knex): Promise<void> {
  const of = { provider_id: LARGEST };
  await knex("providers").insert({ id: LARGEST, name: `${SERVERS} servers` });
  const insert = (table: string, rows: readonly object[]) => knex.batchInsert(table, rows, 1_000);
  const at = (days: number) => new Date(Date.now() - days * 86_400_000);
  const ids = Array.from({ length: SERVERS }, (_, index) => 1_020_000 + index);
  const shared = { ...of, type: "GPU", status: "Active", price_per_hour: 2, created_at: at(1_000) };
  await insert(
    "servers",
    ids.map((id) => ({ ...shared, id, uuid: crypto.randomUUID(), name: `rig-${id}` })),
  );
  await insert(
    "charges",
    ids.map((server_id) => ({ ...of, server_id, charged_at: at(0), gross: `${server_id}.25` })),
  );
  await knex("wallets").insert({ ...of, available_balance: "98765432109.87" });
  const payout = { ...of, amount: "12345678901.23", method: "Bank Transfer", status: "Completed" };
  const nths = Array.from({ length: PAYOUTS }, (_, nth) => nth);
  await insert(
    "payouts",
    nths.map((nth) => ({ ...payout, public_id: `p-${nth}`, paid_at: at(nth) })),
  );
}
