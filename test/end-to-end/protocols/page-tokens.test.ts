/**
 * Page tokens over REST: every instance reads those of the others, also after a restart, until the key in the database
 * is another one; those of another provider, list or period are refused.
 */
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { badRequest } from "../../support/expected-error.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { runService, startService } from "../../support/service/service-process.ts";

let fixture: Fixture;
/** The keys of two providers, each with five charges and five payouts. */
let keys: readonly string[];
beforeAll(async () => {
  fixture = await createFixture(async ({ knex }) => {
    for (const provider_id of [1, 2]) {
      await knex("providers").insert({ id: provider_id, name: "" });
      const at = (nth: number) => `2026-01-0${nth} 00:00:00.000`;
      const days = [1, 2, 3, 4, 5];
      await knex("charges").insert(
        days.map((nth) => ({ provider_id, server_id: 1, charged_at: at(nth), gross: nth })),
      );
      const payout = { provider_id, amount: "1.00", method: "", status: "" };
      await knex("payouts").insert(
        days.map((nth) => ({ ...payout, public_id: `po_${nth}`, paid_at: at(nth) })),
      );
    }
  });
  keys = [fixture.key, await fixture.issueKey("2")];
});
afterAll(() => fixture?.dispose());

const PERIOD = { startDate: "2026-01-01", endDate: "2026-02-01", pageSize: "2" };

/** A page of the first provider's charges, of the fixture's service, unless it says otherwise. */
async function page(
  query: Readonly<Record<string, string>>,
  { url = fixture.service.http, list = "ListCharges", key = keys[0] ?? "" } = {},
) {
  const target = `${paths[list as "ListCharges"]}?${new URLSearchParams({ ...PERIOD, ...query })}`;
  const { status, text, headers } = await rawHttp(url, { target, headers: withKey(key) });
  return { status, text, tag: headers.etag, token: String(headers["next-page-token"] ?? "") };
}

async function start(): Promise<string> {
  const service = await startService(fixture.database.url);
  onTestFinished(async () => void (await service.kill()));
  return service.http;
}

it.each(["ListCharges", "ListPayouts"])(
  "instances read each other's tokens of %s, and write the same ones, also after a restart",
  async (list) => {
    const first = await page({}, { list });
    expect(first).toMatchObject({ status: 200, token: expect.stringMatching(/^[\w-]{60,299}$/) });
    const next = await page({ pageToken: first.token }, { list });
    expect(next).toMatchObject({ status: 200, token: expect.stringMatching(/./) });
    const url = await start();
    expect(await page({}, { list, url })).toEqual(first);
    expect(await page({ pageToken: first.token }, { list, url })).toEqual(next);
    const third = await page({ pageToken: next.token }, { list, url });
    expect(third).toMatchObject({ status: 200, token: "" });
    expect(await page({ pageToken: next.token }, { list })).toEqual(third);
  },
);

it("a token that was changed, or is of another list, provider or period is refused by name", async () => {
  const { token: pageToken } = await page({});
  const got = `got "${pageToken.slice(0, 48)}…"`;
  const expected = "pageToken: expected the nextPageToken of a response to the same";
  const ofCharges = `${expected} startDate, endDate and timeZone, ${got}`;
  const other = "it was changed, is of another version, or belongs to another list or provider";
  const refused = (message: string) => {
    const { status, body } = badRequest(message);
    return { status, text: body };
  };
  expect(await page({ pageToken: `${pageToken.slice(0, -2)}AA` })).toMatchObject(
    refused(`${ofCharges} (${other})`),
  );
  expect(await page({ pageToken }, { key: keys[1] ?? "" })).toMatchObject(
    refused(`${ofCharges} (${other})`),
  );
  expect(await page({ pageToken }, { list: "ListPayouts" })).toMatchObject(
    refused(`${expected} startDate and endDate, ${got} (${other})`),
  );
  expect(await page({ pageToken, endDate: "2026-02-02" })).toMatchObject(
    refused(`${ofCharges} (its endDate was another one)`),
  );
});

it("a key that was replaced counts from the next start, and without one there is none", async () => {
  const { knex } = fixture.database;
  const { token } = await page({});
  const [row] = await knex("page_token_keys");
  await knex("page_token_keys").update({ secret: Buffer.alloc(32, "another") });
  const url = await start();
  expect(await page({ pageToken: token })).toMatchObject({ status: 200 });
  expect(await page({ pageToken: token }, { url })).toMatchObject({ status: 400 });
  const { token: other } = await page({}, { url });
  expect(await page({ pageToken: other }, { url })).toMatchObject({ status: 200 });
  expect(await page({ pageToken: other })).toMatchObject({ status: 400 });

  await knex("page_token_keys").del();
  const environment = { DATABASE_URL: fixture.database.url };
  const reason =
    "page_token_keys has no row with the provider_id 0: INSERT INTO page_token_keys (provider_id, secret) VALUES (0, RANDOM_BYTES(32))\n";
  expect(await runService(environment)).toMatchObject({
    ending: 1,
    stderr: `cannot start: ${reason}`,
  });
  expect(await runService(environment, ["--check"])).toMatchObject({
    ending: 1,
    stderr: `error: ${reason}`,
  });
  // What the message says is right.
  await knex.raw(reason.split(": ")[1] ?? "");
  expect(await page({}, { url: await start() })).toMatchObject({ status: 200 });
  await knex("page_token_keys").update(row);
});
