/** Charges in pages: each once, with sums that are those of breakdown and days, whatever is written meanwhile. */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { atTimeOfCall, chargesOf, payoutsOf } from "../../support/ledger/call.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile(["charges", "payouts", "servers", "instances"]);
const { knex } = database;
const service = createRevenueService(atTimeOfCall(createRead(knex)));

type Request = Parameters<typeof chargesOf>[2];

/** A page, as protobuf JSON. */
interface Page {
  readonly charges: readonly Readonly<Record<string, string>>[];
  readonly nextPageToken: string;
  readonly startDate: string;
  readonly endDate: string;
  readonly timeZone: string;
}

const NOW = "2026-11-20T09:30:00.000Z";

const ask = async (request: Request, provider = 1n, now = NOW) =>
  (await chargesOf(service, provider, request, now)) as unknown as Page;

/** All pages of a request. `between` is run before each page but the first. */
async function pagesOf(
  request: Request,
  between: (page: Page) => unknown = () => {},
): Promise<Page[]> {
  const pages = [await ask(request)];
  for (let page = pages[0]; page?.nextPageToken; page = pages.at(-1)) {
    await between(page);
    pages.push(await ask({ ...request, pageToken: page.nextPageToken }));
  }
  return pages;
}

const idsOf = (pages: readonly Page[]) =>
  pages.flatMap(({ charges }) => charges.map(({ chargeId = "" }) => chargeId));

/** Writes a charge for each time (DATETIME text), of that number. */
async function charge(times: readonly string[], more: object = {}): Promise<string[]> {
  const ids = times.map((at, nth) => `${at.replaceAll(/[ :]/g, "_")}_${nth}`);
  const common = { provider_id: 1, server_id: 1, gross: "1.00", ...more };
  await knex("charges").insert(
    times.map((charged_at, nth) => ({ ...common, public_id: ids[nth], charged_at })),
  );
  return ids;
}

it("without charges there is one empty page, of the last 30 days", async () => {
  expect(await ask({})).toEqual({
    charges: [],
    nextPageToken: "",
    startDate: "2026-10-21T09:30:00Z",
    endDate: "2026-11-20T09:30:00Z",
    timeZone: "UTC",
  });
});

it("a charge has what it is for, and empty texts for what is not known", async () => {
  const server = { id: 1, provider_id: 1, uuid: "uuid-1", name: "alpha", type: "GPU" };
  await knex("servers").insert({ ...server, status: "Active", price_per_hour: "1" });
  const instance = { id: 5, provider_id: 1, server_id: 1, public_id: "inst-5", name: "gpu" };
  await knex("instances").insert({ ...instance, deleted_at: "2026-11-01" });
  // Those of another provider have the same numbers.
  await knex("instances").insert({ ...instance, id: 6, provider_id: 2 });
  const common = { provider_id: 1, server_id: 1, recorded_at: "2026-11-20 08:00:00.250" };
  await knex("charges").insert(
    [
      { public_id: "a", instance_id: 5, gross: "-0.05" },
      { public_id: null, instance_id: null, gross: "123456789012.34" },
      { public_id: "c", instance_id: 6, server_id: 9, gross: "0.00" },
    ].map((row, nth) => ({ ...common, ...row, charged_at: `2026-11-19 07:0${nth}:00.000` })),
  );
  const { charges } = await ask({});
  const shared = {
    recordedTime: "2026-11-20T08:00:00.250Z",
    serverId: "uuid-1",
    serverName: "alpha",
  };
  const none = { instanceId: "", instanceName: "" };
  expect(charges).toEqual([
    {
      chargeId: "c",
      chargeTime: "2026-11-19T07:02:00Z",
      ...{ ...shared, serverId: "", serverName: "", ...none },
      amount: { value: "0.00" },
    },
    {
      chargeId: "",
      chargeTime: "2026-11-19T07:01:00Z",
      ...{ ...shared, ...none },
      amount: { value: "123456789012.34" },
    },
    {
      chargeId: "a",
      chargeTime: "2026-11-19T07:00:00Z",
      ...{ ...shared, instanceId: "inst-5", instanceName: "gpu" },
      amount: { value: "-0.05" },
    },
  ]);
});

it.each([1, 2, 3, 7])(
  "charges of dates that do not exist come once each, in pages of %i",
  async (pageSize) => {
    const ids = await charge([
      "0000-00-00 00:00:00.000",
      "0000-00-00 00:00:00.000",
      "0000-00-00 12:00:00.000",
      "0001-01-01 00:00:00.000",
      "2025-12-31 23:59:59.999",
      "2026-00-10 12:00:00.000",
      "2026-00-10 12:00:00.000",
      "2026-01-01 00:00:00.000",
      "2026-02-28 23:59:59.999",
      "2026-03-00 12:00:00.000",
      "2026-03-00 12:00:00.000",
      "2026-03-00 12:00:00.001",
      "2026-03-01 00:00:00.000",
    ]);
    const pages = await pagesOf({ startDate: "0001-01-01", pageSize });
    expect(idsOf(pages)).toEqual(ids.toReversed());
  },
);

it.each([
  [{}, 1],
  [{ endDate: "2026-11-20" }, 1],
  [{ endDate: "2027-01-01", startDate: "2026-11-20T09:30:00.001Z" }, 0],
  [{ startDate: "2026-11-20T15:00", timeZone: "Asia/Kolkata" }, 1],
  [{ startDate: "2026-11-20T15:00:00.001", endDate: "2027-01-01", timeZone: "Asia/Kolkata" }, 0],
])("a charge that is dated after now is not listed: %j", async (request, count) => {
  await charge(["2026-11-20 09:30:00.000", "2026-11-20 09:30:00.001", "2999-01-01 00:00:00.000"]);
  expect((await ask(request)).charges).toHaveLength(count);
});

it("the first page fixes the period, up to its now, and each page repeats it", async () => {
  const ids = await charge([1, 2, 3, 4, 5].map((hour) => `2026-11-20 0${hour}:00:00.000`));
  for (const [request, endDate] of [
    [{}, "2026-11-20T09:30:00Z"],
    [{ startDate: "2026-11-20", endDate: "2026-12-31" }, "2026-11-20T09:30:00Z"],
    [{ startDate: "2026-11-20", endDate: "2026-11-20T05:00:00Z" }, "2026-11-20T05:00:00Z"],
  ] as const) {
    const first = await ask({ ...request, pageSize: 2 });
    expect(first.endDate).toBe(endDate);
    // Dated before the first page's now, after what was read, and after that now: later.
    const later = "2026-11-20T12:00:00.000Z";
    const second = await ask({ ...request, pageToken: first.nextPageToken }, 1n, later);
    const { startDate, timeZone } = first;
    expect(second).toMatchObject({ startDate, endDate, timeZone });
    expect(idsOf([first, second])).toEqual(ids.toReversed());
  }
});

const times = (count: number) => {
  const first = Date.UTC(2026, 10, 10);
  return Array.from({ length: count }, (_, nth) =>
    new Date(first + nth * 1_000).toISOString().slice(0, -1).replace("T", " "),
  );
};

it.each([
  [1, 3, [1, 1, 1]],
  [2, 4, [2, 2]],
  [50, 101, [50, 50, 1]],
  [1_000, 2_001, [1_000, 1_000, 1]],
  [0, 120, [50, 50, 20]],
  [2 ** 31 - 1, 1_001, [1_000, 1]],
])("with a page size of %i, %i charges come as %j", async (pageSize, count, lengths) => {
  const ids = await charge(times(count));
  await charge(times(3), { provider_id: 2 });
  const pages = await pagesOf({ pageSize });
  expect(pages.map(({ charges }) => charges.length)).toEqual(lengths);
  expect(idsOf(pages)).toEqual(ids.toReversed());
});

it("charges of one instant come once each, the last that was written first", async () => {
  const ids = await charge(Array.from({ length: 230 }, () => "2026-11-10 00:00:00.000"));
  const around = await charge(["2026-11-09 23:59:59.999", "2026-11-10 00:00:00.001"]);
  const [older = "", newer = ""] = around;
  for (const pageSize of [1, 7, 50, 1_000]) {
    expect(idsOf(await pagesOf({ pageSize }))).toEqual([newer, ...ids.toReversed(), older]);
  }
});

it("what is written behind the place comes, before it not, and nothing twice", async () => {
  const ids = await charge(times(30));
  let written = 0;
  const pages = await pagesOf({ pageSize: 4 }, async ({ charges }) => {
    const { chargeTime = "" } = charges.at(-1) ?? {};
    const at = chargeTime.replace("T", " ").replace("Z", "");
    written++;
    const row = { provider_id: 1, server_id: 1, gross: "1.00" };
    await knex("charges").insert([
      // At the very instant of the last one that was read, dated back, and dated ahead of what was read.
      { ...row, public_id: `same-${written}`, charged_at: at },
      { ...row, public_id: `late-${written}`, charged_at: `2026-11-0${(written % 9) + 1}` },
      { ...row, public_id: `new-${written}`, charged_at: "2026-11-20 00:00:00.000" },
    ]);
    await knex("charges")
      .where({ public_id: charges.at(-1)?.chargeId ?? "" })
      .del();
  });
  const listed = idsOf(pages);
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
  expect(listed.filter((id) => /^(same|new)-/.test(id))).toEqual([]);
  expect(listed.filter((id) => id.startsWith("late-")).length).toBeGreaterThan(1);
});

const REFUSED =
  /^pageToken: expected the nextPageToken of a response to the same startDate, endDate and timeZone, got ".*" \((.*)\)$/;
const CHANGED =
  /\(it was changed, is of another version, or belongs to another list or provider\)$/;

it("a token is refused with other parameters, for another provider, and for another list", async () => {
  await charge(times(9));
  await charge(times(9), { provider_id: 2 });
  const request = { startDate: "2026-11-01", timeZone: "Asia/Kolkata", pageSize: 2 };
  const { nextPageToken: pageToken } = await ask(request);
  expect(await ask({ ...request, pageSize: 3, pageToken })).toBeTypeOf("object");
  for (const changed of [
    { startDate: "" },
    { startDate: "2026-11-02" },
    { endDate: "2026-11-30" },
    // The start of another zone's date would be another one.
    { timeZone: "", startDate: "2026-10-31T18:30:00Z" },
    { timeZone: "Europe/Berlin", startDate: "2026-10-31T18:30:00Z" },
  ]) {
    const refusal = await ask({ ...request, ...changed, pageToken });
    expect(refusal).toMatch(REFUSED);
    expect(refusal).toContain(`(its ${Object.keys(changed)[0]} was another one)`);
  }
  const ofAnother = await ask({ ...request, pageToken }, 2n);
  expect(ofAnother).toMatch(REFUSED);
  expect(ofAnother).toMatch(CHANGED);
  // What means the same is the same.
  const same = { ...request, startDate: "2026-10-31T18:30:00Z", pageToken };
  expect(await ask(same)).toBeTypeOf("object");

  const payout = { provider_id: 1, amount: "1.00", method: "", status: "" };
  const ids = ["a", "b"].map((id) => ({ ...payout, public_id: id, paid_at: "2026-11-10" }));
  await knex("payouts").insert(ids);
  const paid = await payoutsOf(service, 1n, { pageSize: 1 });
  const { nextPageToken: ofPayouts } = paid as { nextPageToken: string };
  expect(ofPayouts).not.toBe("");
  expect(await ask({ pageToken: ofPayouts })).toMatch(CHANGED);
  const { nextPageToken: ofCharges } = await ask({ pageSize: 1 });
  expect(await payoutsOf(service, 1n, { pageToken: ofCharges })).toMatch(CHANGED);
});

it("a token with any character changed, or cut off anywhere, is refused", async () => {
  await charge(times(3));
  const { nextPageToken: next } = await ask({ pageSize: 1 });
  for (let at = 0; at < next.length; at++) {
    const changed = `${next.slice(0, at)}${next[at] === "A" ? "B" : "A"}${next.slice(at + 1)}`;
    for (const pageToken of [changed, next.slice(0, at), next.slice(at + 1)]) {
      if (pageToken === "") continue;
      expect(await ask({ pageSize: 1, pageToken }), pageToken).toMatch(/^pageToken: expected /);
    }
  }
});
