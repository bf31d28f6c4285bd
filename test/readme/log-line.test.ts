/** The log line that the README shows is one that the service writes. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { smallLedger } from "../service/ledger.ts";
import { withKey } from "../service/question.ts";
import { type Stage, setStage } from "../service/stage.ts";
import { blockWith } from "./readme.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(smallLedger);
});
afterAll(() => stage?.strike());

it("has the fields of a real one, in their order, and its values where they are not by chance", async () => {
  const shown: Record<string, unknown> = JSON.parse(blockWith("json", '"requestId"'));
  const requestId = String(shown.requestId);
  const headers = [...withKey(stage.key), ["x-request-id", requestId] as const];
  await stage.doors.named("REST").call({ method: "GetOverview", headers });
  const [real = {}, ...others] = await stage.service.logOf(requestId);
  expect(others).toEqual([]);
  expect(Object.keys(real)).toEqual(Object.keys(shown));
  expect({ ...real, time: shown.time, ms: shown.ms }).toEqual(shown);
  expect(real.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(typeof real.ms).toBe("number");
});
