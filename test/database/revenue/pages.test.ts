/**
 * Lists in pages, charges, payouts and providers: every row once and in its order, also while others are written and
 * deleted, and tokens that fit their request alone.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { createRead, type Query, type Read } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { atTimeOfCall, chargesOf, payoutsOf, providersOf } from "../../support/ledger/call.ts";
import { databaseOfFile } from "../file-database.ts";

const { knex } = await databaseOfFile(["charges", "payouts", "providers", "servers", "instances"]);
const read = createRead(knex);
const service = createRevenueService(atTimeOfCall(read));
/** The rows of a query come in another order, as those of shards may. */
const scattered: Read = (work, options) =>
  read((session) => {
    const query: Query = async (...sent) => (await session.query(...sent)).toReversed();
    return work({ ...session, query });
  }, options);
const ofAll = createRevenueService(atTimeOfCall(scattered));

type Request = Readonly<Record<string, string | number>>;
/** A page, and the ids of its rows. */
interface Page {
  readonly ids: readonly string[];
  readonly nextPageToken: string;
  readonly [field: string]: unknown;
}

const NOW = "2026-11-20T09:30:00.000Z";

/** A list of a provider's, or of all providers. */
const LISTS = {
  charges: {
    ask: (request: Request, provider = 1n, now = NOW) => chargesOf(service, provider, request, now),
    idOf: "chargeId",
    byDefault: 50,
    parameters: ["startDate", "endDate", "timeZone"],
    timeOf: "charged_at",
    more: { server_id: 1, gross: "1.00" },
  },
  payouts: {
    ask: (request: Request, provider = 1n) => payoutsOf(service, provider, request),
    idOf: "payoutId",
    byDefault: 50,
    parameters: ["startDate", "endDate", "timeZone"],
    timeOf: "paid_at",
    more: { amount: "1.00", method: "", status: "" },
  },
  providers: {
    ask: (request: Request) => providersOf(ofAll, request),
    idOf: "providerId",
    byDefault: 100,
    parameters: ["startDate", "endDate", "timeZone"],
  },
} as const;
type Name = keyof typeof LISTS;
type Dated = "charges" | "payouts";
const NAMES = Object.keys(LISTS) as Name[];
const DATED = ["charges", "payouts"] as const;

/** Resolves to a page, or to the message of a refusal. */
async function ask(name: Name, request: Request, ...more: [provider?: bigint, now?: string]) {
  const { ask, idOf } = LISTS[name];
  const answer = (await ask(request, ...more)) as unknown as Page | string;
  if (typeof answer === "string") return answer;
  const rows = answer[name] as Record<string, string>[];
  return { ...answer, ids: rows.map((row) => row[idOf] ?? "") };
}

async function pageOf(...question: Parameters<typeof ask>): Promise<Page> {
  const page = await ask(...question);
  if (typeof page === "string") throw new Error(page);
  return page;
}

/** The ids of all pages. `between` is run before each page but the first. */
async function pagesOf(name: Name, request: Request, between: (page: Page) => unknown = () => {}) {
  const pages = [await pageOf(name, request)];
  for (let page = pages[0]; page?.nextPageToken; page = pages.at(-1)) {
    await between(page);
    pages.push(await pageOf(name, { ...request, pageToken: page.nextPageToken }));
  }
  return pages.map(({ ids }) => ids);
}

/** Writes a row for each time (DATETIME text). Resolves to their ids, the last that was written first. */
async function write(name: Dated, times: readonly string[], provider = 1, mark = "") {
  const { timeOf, more }: { timeOf: string; more: object } = LISTS[name];
  const ids = times.map((at, nth) => `${mark}${at.replaceAll(/[ :]/g, "_")}_${nth}`);
  const row = { provider_id: provider, ...more };
  await knex.batchInsert(
    name,
    times.map((at, nth): object => ({ ...row, public_id: ids[nth], [timeOf]: at })),
  );
  return ids.toReversed();
}

/** An hour for each number, later for a larger one. */
const timeAt = (nth: number) =>
  new Date(Date.UTC(2026, 0, 1) + nth * 3_600_000).toISOString().slice(0, -1).replace("T", " ");
const times = (count: number) => Array.from({ length: count }, (_, nth) => timeAt(nth));

const addProviders = (ids: readonly bigint[]) =>
  knex.batchInsert(
    "providers",
    ids.map((id) => ({ id: String(id), name: `n${id}` })),
  );

/** Adds rows. Resolves to their ids in the order of the list. */
async function fill(name: Name, count: number): Promise<readonly string[]> {
  if (name !== "providers") return write(name, times(count));
  await addProviders(Array.from({ length: count }, (_, nth) => BigInt(nth + 1)));
  return Array.from({ length: count }, (_, nth) => String(nth + 1));
}

const ALL = { startDate: "0001-01-01" };

it("without rows there is one empty page, which has its period", async () => {
  const period = { startDate: "2026-10-21T09:30:00Z", endDate: "2026-11-20T09:30:00Z" };
  const none = { charges: [], ids: [], nextPageToken: "", ...period, timeZone: "UTC" };
  expect(await ask("charges", {})).toEqual(none);
});

describe.each(NAMES)("%s", (name) => {
  const { byDefault, parameters } = LISTS[name];

  it("come in pages of the size that is asked for, each once and in order, those of one provider", async () => {
    for (const other of DATED) await write(other, times(3), 2);
    const ids = await fill(name, byDefault + 1_006);
    const pages: string[][] = [];
    let pageToken = "";
    // The last of them is full.
    for (const pageSize of [0, 2 ** 31 - 1, 6]) {
      const page = await pageOf(name, { ...ALL, pageSize, pageToken });
      pages.push([...page.ids]);
      pageToken = page.nextPageToken;
    }
    expect(pages.map(({ length }) => length)).toEqual([byDefault, 1_000, 6]);
    expect([...pages.flat(), pageToken]).toEqual([...ids, ""]);
    expect(await ask(name, { pageSize: -1 })).toBe(
      `pageSize: expected 0 (the default, ${byDefault}) or more, got -1`,
    );
  });

  it("that are deleted between pages shift none of the others, not even the last one of a page", async () => {
    const ids = await fill(name, 10);
    const column = name === "providers" ? "id" : "public_id";
    const pages = await pagesOf(name, { ...ALL, pageSize: 4 }, ({ ids }) =>
      knex(name)
        .whereIn(column, ids as string[])
        .del(),
    );
    expect(pages.flat()).toEqual(ids);
  });

  it("have a token that is refused with other parameters", async () => {
    await fill(name, 3);
    const request = { startDate: "2026-01-01", timeZone: "Asia/Kolkata", pageSize: 1 };
    const { nextPageToken: pageToken } = await pageOf(name, request);
    const others = { startDate: "2025-01-01", endDate: "2030-01-01", timeZone: "Europe/Berlin" };
    // The same start, of which another zone's date would be another one.
    const startDate = "2025-12-31T18:30:00Z";
    for (const parameter of parameters) {
      const changed = { ...request, startDate, [parameter]: others[parameter], pageToken };
      const refusal = `to the same ${new Intl.ListFormat("en-GB").format(parameters)}, got ".*"`;
      expect(await ask(name, changed)).toMatch(
        new RegExp(`${refusal} \\(its ${parameter} was another one\\)$`),
      );
    }
    // What means the same is the same.
    expect(await ask(name, { ...request, startDate, pageToken })).toBeTypeOf("object");
  });
});

describe.each(DATED)("%s", (name) => {
  const AT = "2026-11-10 00:00:00.000";

  it("of one instant come once each, the last that was written first", async () => {
    const [older] = await write(name, ["2026-11-09 23:59:59.999"]);
    const ids = await write(name, Array(60).fill(AT));
    const [newer] = await write(name, ["2026-11-10 00:00:00.001"]);
    for (const pageSize of [1, 7, 50]) {
      expect((await pagesOf(name, { pageSize })).flat()).toEqual([newer, ...ids, older]);
    }
  });

  it("of dates that do not exist come once each, and count at the last instant before", async () => {
    const rows = [
      ["0000-00-00 00:00:00.000", "0001-01-01"],
      ["0000-00-00 00:00:00.000", "0001-01-01"],
      ["0000-00-00 12:00:00.000", "0001-01-01"],
      ["0001-01-01 00:00:00.000", "0001-01-01"],
      ["2026-02-28 23:59:59.999", "2026-02-28T23:59:59.999Z"],
      ["2026-03-00 12:00:00.000", "2026-02-28T23:59:59.999Z"],
      ["2026-03-00 12:00:00.001", "2026-02-28T23:59:59.999Z"],
      ["2026-03-01 00:00:00.000", "2026-03-01"],
    ] as const;
    const times = rows.map(([at]) => at);
    const ids = await write(name, times);
    for (const pageSize of [1, 3]) {
      expect((await pagesOf(name, { ...ALL, pageSize })).flat()).toEqual(ids);
    }
    const instants = rows.map(([, at]) => Date.parse(at)).toReversed();
    for (const at of new Set(instants)) {
      const endDate = new Date(at).toISOString();
      const until = await pagesOf(name, { ...ALL, endDate, pageSize: 2 });
      expect(until.flat(), endDate).toEqual(ids.filter((_, nth) => (instants[nth] ?? 0) <= at));
      const since = await pagesOf(name, { startDate: endDate, pageSize: 2 });
      expect(since.flat(), endDate).toEqual(ids.filter((_, nth) => (instants[nth] ?? 0) >= at));
    }
  });

  it("that are written behind the place come, before it not, and none twice", async () => {
    const ids = await write(name, times(30));
    const late: string[] = [];
    const pages = await pagesOf(name, { ...ALL, pageSize: 4 }, async ({ ids: seen }) => {
      const nth = ids.length - 1 - ids.findLastIndex((id) => seen.includes(id));
      // Newer than all, at the very instant of the last one that was read, and older than all.
      await write(name, [timeAt(1_000), timeAt(nth)], 1, `no${late.length}`);
      late.push(...(await write(name, [timeAt(-1 - late.length)], 1, "late")));
    });
    // What was written before the last page is on it.
    expect(pages.flat()).toEqual([...ids, ...late.filter((id) => pages.flat().includes(id))]);
    expect(late.filter((id) => pages.flat().includes(id)).length).toBeGreaterThan(4);
  });
});

describe("charges", () => {
  it("have their ids, the time of their recording, and no owners of other providers", async () => {
    const instance = { id: 6, provider_id: 2, server_id: 9, public_id: "inst-6", name: "gpu" };
    await knex("instances").insert(instance);
    const row = { provider_id: 1, server_id: 9, instance_id: 6, gross: "-0.05" };
    const charged_at = "2026-11-19 07:00:00.000";
    const recorded_at = "2026-11-20 08:00:00.250";
    await knex("charges").insert({ ...row, charged_at, recorded_at });
    await knex("charges").insert({ ...row, charged_at, recorded_at, public_id: "c" });
    const times = { chargeTime: "2026-11-19T07:00:00Z", recordedTime: "2026-11-20T08:00:00.250Z" };
    const none = { serverId: "", serverName: "", instanceId: "", instanceName: "" };
    const charge = { ...times, ...none, amount: { value: "-0.05" } };
    expect((await pageOf("charges", {})).charges).toEqual([
      { ...charge, chargeId: "c" },
      { ...charge, chargeId: "" },
    ]);
  });

  it("of a period are those up to now, which the first page fixes and each page repeats", async () => {
    const ids = await write("charges", ["2026-11-20 01:00:00.000", "2026-11-20 02:00:00.000"]);
    await write("charges", ["2026-11-20 09:30:00.001", "2999-01-01 00:00:00.000"], 1, "later");
    const request = { startDate: "2026-11-20", endDate: "2026-12-31", pageSize: 1 };
    const { nextPageToken: pageToken, ...first } = await pageOf("charges", request);
    const second = await pageOf(
      "charges",
      { ...request, pageToken },
      1n,
      "2026-11-21T12:00:00.000Z",
    );
    for (const { endDate } of [first, second]) expect(endDate).toBe("2026-11-20T09:30:00Z");
    expect([...first.ids, ...second.ids]).toEqual(ids);
    expect(second).toMatchObject({ startDate: first.startDate, nextPageToken: "" });
  });
});

describe("payouts", () => {
  it("that are dated after now are listed, as in the overview, and so is the last instant", async () => {
    const ids = await write("payouts", [timeAt(0), "2999-01-01", "9999-12-31 23:59:59.999"]);
    expect((await pagesOf("payouts", { pageSize: 1 })).flat()).toEqual(ids);
  });

  it.each([
    ["2026-01-02", "2026-01-02", 24],
    ["2026-01-02T01:00:00Z", "2026-01-02T03:00:00.000Z", 3],
    ["", "2026-01-01T05:59:59.999Z", 6],
    ["2026-01-03", "", 12],
    // 18:30 to 18:30 UTC, at full hours.
    ["2026-01-02", "2026-01-02", 24, "Asia/Kolkata"],
    ["", "2026-01-01", 19, "Asia/Kolkata"],
  ])(
    "of the period from %j to %j are %i, both ends inclusive",
    async (startDate, endDate, count, timeZone = "") => {
      await write("payouts", times(60));
      const pages = await pagesOf("payouts", { startDate, endDate, timeZone, pageSize: 5 });
      expect(pages.flat()).toHaveLength(count);
    },
  );
});

describe("providers", () => {
  beforeEach(() => addProviders([2n, 4n, 6n]));

  it("come by ascending number, also beyond those that a double can hold, with their names", async () => {
    const ids = [9n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
    await addProviders(ids.toReversed());
    const pages = await pagesOf("providers", { pageSize: 2 });
    expect(pages.flat()).toEqual([2n, 4n, 6n, ...ids].map(String));
    expect((await pageOf("providers", { pageSize: 1 })).providers).toMatchObject([{ name: "n2" }]);
  });

  it("that are added between pages come behind the place, and shift none of the others", async () => {
    const pages = await pagesOf("providers", { pageSize: 2 }, () => addProviders([1n, 3n, 5n]));
    expect(pages.flat()).toEqual(["2", "4", "5", "6"]);
  });
});
