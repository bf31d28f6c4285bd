/** A key in the URL is no key, and what is wrong with the query is told to nobody without a key. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { smallLedger } from "../service/ledger.ts";
import { rawHttp } from "../service/raw-http.ts";
import { UNAUTHENTICATED } from "../service/refusal.ts";
import { type Stage, setStage } from "../service/stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(smallLedger);
});
afterAll(() => stage?.strike());

it.each([
  "/api/provider/revenue?x-api-key=KEY",
  "/api/provider/revenue?api_key=KEY",
  "/api/provider/revenue?access_token=KEY",
  "/api/provider/revenue?KEY",
  "/api/provider/revenue/servers?startDate=x&limit=1",
  "/api/provider/revenue/servers?startDate=%zz",
])("%s is a request without a key", async (path) => {
  const target = path.replace("KEY", stage.key);
  const { status, text } = await rawHttp(stage.service.http, { target });
  expect({ status, text }).toEqual({ status: 401, text: UNAUTHENTICATED.body });
});

it("and it is not in the log", async () => {
  expect(stage.service.output().includes(stage.key.slice(8))).toBe(false);
});
