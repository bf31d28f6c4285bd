/** Payouts in pages: every payout once, also while others are written, and tokens that fit their request alone. */
import { expect, it } from "vitest";
import { createRead } from "../../../src/db/query.ts";
import { createRevenueService } from "../../../src/revenue/service.ts";
import { payoutsOf } from "../../support/ledger/call.ts";
import { databaseOfFile } from "../file-database.ts";

const database = await databaseOfFile(["payouts"]);
const { knex } = database;
const service = createRevenueService(createRead(knex));

/** A page: the ids of its payouts, and the token of the next one. */
interface Page {
  readonly ids: readonly string[];
  readonly next: string;
}

type Request = Parameters<typeof payoutsOf>[2];

const ask = (request: Request, provider = 1n) => payoutsOf(service, provider, request);

async function pageOf(request: Request): Promise<Page> {
  const response = await ask(request);
  expect(response).toBeTypeOf("object");
  const { payouts, nextPageToken } = response as {
    payouts: { payoutId: string }[];
    nextPageToken: string;
  };
  return { ids: payouts.map(({ payoutId }) => payoutId), next: nextPageToken };
}

/** All pages of a request. `between` is run before each page but the first. */
async function pagesOf(request: Request, between: (page: Page) => unknown = () => {}) {
  const pages = [await pageOf(request)];
  for (let page = pages[0]; page?.next; page = pages.at(-1)) {
    await between(page);
    pages.push(await pageOf({ ...request, pageToken: page.next }));
  }
  return pages.map(({ ids }) => ids);
}

/** Writes a payout for each time (DATETIME text), with that as its id and a number. */
async function pay(times: readonly string[], provider = 1): Promise<string[]> {
  const ids = times.map((at, nth) => `${at.replaceAll(/[ :]/g, "_")}_${nth}`);
  const common = { provider_id: provider, amount: "1.00", method: "", status: "" };
  if (times.length > 0) {
    await knex("payouts").insert(
      times.map((paid_at, nth) => ({ ...common, public_id: ids[nth], paid_at })),
    );
  }
  return ids;
}

/** A time for each number, later for a larger one. */
const timeAt = (nth: number) =>
  `${new Date(Date.UTC(2020, 0, 1) + nth * 3_600_000).toISOString().slice(0, 19).replace("T", " ")}.000`;
const times = (count: number) => Array.from({ length: count }, (_, nth) => timeAt(nth));

const lengths = (pages: readonly (readonly string[])[]) => pages.map(({ length }) => length);

it("without payouts there is one empty page", async () => {
  expect(await ask({})).toEqual({ payouts: [], nextPageToken: "" });
});

it.each([
  [0, 120, [50, 50, 20]],
  [50, 100, [50, 50]],
  [51, 103, [51, 51, 1]],
  [7, 15, [7, 7, 1]],
  [1, 2, [1, 1]],
  [1_000, 1_001, [1_000, 1]],
  [2 ** 31 - 1, 2_001, [1_000, 1_000, 1]],
])(
  "with a page size of %i, %i payouts come as %j, each once, newest first",
  async (pageSize, count, expected) => {
    const ids = await pay(times(count));
    await pay(times(3), 2);
    const pages = await pagesOf({ pageSize });
    expect(lengths(pages)).toEqual(expected);
    expect(pages.flat()).toEqual(ids.toReversed());
  },
);

it("payouts of one instant come once each, the last that was written first", async () => {
  const ids = await pay(Array.from({ length: 23 }, () => "2026-01-01 00:00:00.000"));
  expect((await pagesOf({ pageSize: 4 })).flat()).toEqual(ids.toReversed());
});

it("a payout that is dated after now is listed, as in the overview, and so is the last instant", async () => {
  const ids = await pay([
    "2026-01-01 00:00:00.000",
    "2999-01-01 00:00:00.000",
    "9999-12-31 23:59:59.999",
  ]);
  expect((await pagesOf({ pageSize: 1 })).flat()).toEqual(ids.toReversed());
});

it("payouts of dates that do not exist come in their order, page by page", async () => {
  const ids = await pay([
    "0000-00-00 00:00:00.000",
    "2025-12-31 23:59:59.999",
    "2026-00-10 12:00:00.000",
    "2026-01-01 00:00:00.000",
    "2026-02-28 23:59:59.999",
    "2026-03-00 12:00:00.000",
    "2026-03-00 12:00:00.000",
    "2026-03-01 00:00:00.000",
  ]);
  for (const pageSize of [1, 2, 3]) {
    expect((await pagesOf({ pageSize })).flat()).toEqual(ids.toReversed());
  }
});

it.each([
  ["2020-01-02", "2020-01-02", 24],
  ["2020-01-02T01:00:00Z", "2020-01-02T03:00:00.000Z", 3],
  ["", "2020-01-01T05:59:59.999Z", 6],
  ["2020-01-03", "", 12],
  ["0001-01-01", "9999-12-31", 60],
  ["2030-01-01", "", 0],
])(
  "the period from %j to %j has %i payouts, both ends inclusive",
  async (startDate, endDate, count) => {
    await pay(times(60));
    expect((await pagesOf({ startDate, endDate, pageSize: 5 })).flat()).toHaveLength(count);
  },
);

it("what writers add behind the pages that were read comes, nothing comes twice, and nothing is left out", async () => {
  const ids = await pay(times(40));
  let written = 0;
  const late: string[] = [];
  const pages = await pagesOf({ pageSize: 3 }, async ({ ids: seen }) => {
    written++;
    // Newer than all, at the very instant of the last one that was read, and older.
    const nth = ids.indexOf(seen.at(-1) ?? "");
    await pay([timeAt(1_000 + written)]);
    if (nth >= 0) await knex("payouts").insert({ ...row(`same_${written}`), paid_at: timeAt(nth) });
    late.push(`old_${written}`);
    await knex("payouts").insert({ ...row(`old_${written}`), paid_at: timeAt(-written) });
  });
  const listed = pages.flat();
  expect(new Set(listed).size).toBe(listed.length);
  expect(listed.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
  const before = late.slice(0, -1);
  expect(listed.filter((id) => before.includes(id))).toHaveLength(before.length);
  expect(listed.filter((id) => id.startsWith("same_"))).toEqual([]);
});

it("what is deleted between two pages shifts none of the others, not even the last payout of a page", async () => {
  const ids = await pay(times(10));
  const pages = await pagesOf({ pageSize: 4 }, ({ ids: seen }) =>
    knex("payouts").whereIn("public_id", seen).del(),
  );
  expect(pages.flat()).toEqual(ids.toReversed());
});

const row = (public_id: string) => ({
  provider_id: 1,
  amount: "1.00",
  method: "",
  status: "",
  public_id,
});

it("the page size may change from page to page", async () => {
  const ids = await pay(times(9));
  const { next } = await pageOf({ pageSize: 2 });
  expect((await pageOf({ pageSize: 7, pageToken: next })).ids).toEqual(
    ids.slice(0, 7).toReversed(),
  );
});

const REFUSED =
  /^pageToken: expected the nextPageToken of a response to the same startDate and endDate, got ".*" \((.*)\)$/;
const CHANGED =
  /\(it was changed, is of another version, or belongs to another list or provider\)$/;

it("a token is refused with other parameters, and for another provider", async () => {
  await pay(times(9));
  await pay(times(9), 2);
  const request = { startDate: "2020-01-01", pageSize: 2 };
  const { next: pageToken } = await pageOf(request);
  expect(await ask({ ...request, pageToken })).toBeTypeOf("object");
  for (const changed of [
    { startDate: "" },
    { startDate: "2019-12-31" },
    { endDate: "2030-01-01" },
  ]) {
    const refusal = await ask({ ...request, ...changed, pageToken });
    expect(refusal).toMatch(REFUSED);
    expect(refusal).toContain(`(its ${Object.keys(changed)} was another one)`);
  }
  const refusal = await ask({ ...request, pageToken }, 2n);
  expect(refusal).toMatch(REFUSED);
  expect(refusal).toMatch(CHANGED);
  // What means the same is the same.
  const same = { startDate: "2020-01-01T00:00:00Z", pageToken };
  expect(await ask({ ...request, ...same })).toBeTypeOf("object");
});

it("a token with any character changed, added or taken away is refused", async () => {
  await pay(times(3));
  const { next } = await pageOf({ pageSize: 1 });
  for (let at = 0; at < next.length; at++) {
    const others = [next[at] === "A" ? "B" : "A", "", `${next[at]}x`, "=", "é"];
    for (const other of others) {
      const pageToken = next.slice(0, at) + other + next.slice(at + 1);
      if (pageToken !== next)
        expect(await ask({ pageSize: 1, pageToken }), pageToken).toMatch(CHANGED);
    }
  }
  for (const pageToken of ["0", " ", next.repeat(2), `${next}==`, "x".repeat(60_000)]) {
    expect(await ask({ pageToken })).toMatch(CHANGED);
  }
});

it("a negative page size is refused", async () => {
  expect(await ask({ pageSize: -1 })).toBe(
    "pageSize: expected 0 (the default, 50) or more, got -1",
  );
});
