/** The log line that the README shows is one that the service writes. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { withKey } from "../support/request.ts";
import { createFixture, type Fixture } from "../support/service/fixture.ts";
import { smallLedger } from "../support/small-ledger.ts";
import { blockWith } from "./readme.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

it("has the fields of a real one, in their order, and its values where they are not by chance", async () => {
  const shown: Record<string, unknown> = JSON.parse(blockWith("json", '"requestId"'));
  const requestId = String(shown.requestId);
  const headers = [...withKey(fixture.key), ["x-request-id", requestId] as const];
  await fixture.clients.named("REST").call({ method: "GetOverview", headers });
  const [real = {}, ...others] = await fixture.service.logOf(requestId);
  expect(others).toEqual([]);
  expect(Object.keys(real)).toEqual(Object.keys(shown));
  expect({ ...real, time: shown.time, ms: shown.ms }).toEqual(shown);
  expect(real.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(typeof real.ms).toBe("number");
});
