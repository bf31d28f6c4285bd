/** A key in the URL is no key, and what is wrong with the query is told to nobody without a key. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { UNAUTHENTICATED } from "../../support/refusal.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

it.each([
  "/api/provider/revenue?x-api-key=KEY",
  "/api/provider/revenue?api_key=KEY",
  "/api/provider/revenue?access_token=KEY",
  "/api/provider/revenue?KEY",
  "/api/provider/revenue/servers?startDate=x&limit=1",
  "/api/provider/revenue/servers?startDate=%zz",
])("%s is a request without a key", async (path) => {
  const target = path.replace("KEY", fixture.key);
  const { status, text } = await rawHttp(fixture.service.http, { target });
  expect({ status, text }).toEqual({ status: 401, text: UNAUTHENTICATED.body });
});

it("and it is not in the log", async () => {
  expect(fixture.service.output().includes(fixture.key.slice(8))).toBe(false);
});
