/** The log lines in docs/operations.md are lines that the service writes. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLagLog } from "../../src/rollup/read/lag-log.ts";
import { collectLog } from "../support/collected-log.ts";
import { withKey } from "../support/request.ts";
import { createFixture, type Fixture } from "../support/service/fixture.ts";
import { smallLedger } from "../support/small-ledger.ts";
import { blockWith } from "./markdown.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

it("the line of a call has the fields of a real one, in their order, and the same values", async () => {
  const shown: Record<string, unknown> = JSON.parse(blockWith("json", '"requestId"'));
  const requestId = String(shown.requestId);
  const headers = [...withKey(fixture.key), ["x-request-id", requestId] as const];
  await fixture.clients.get("REST").call({ method: "GetOverview", headers });
  const [real = {}, ...others] = await fixture.service.logOf(requestId);
  expect(others).toEqual([]);
  expect(Object.keys(real)).toEqual(Object.keys(shown));
  // The time and the duration differ from call to call.
  expect({ ...real, time: shown.time, ms: shown.ms }).toEqual(shown);
  expect(real.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(typeof real.ms).toBe("number");
});

it("the line of a rollup that is behind is the one written at that time", () => {
  const { time, ...shown } = JSON.parse(blockWith("json", '"behindSeconds"'));
  const { log, entries } = collectLog();
  const { providerId, watermark, uncoveredCharges } = shown;
  const rollup = { version: "1", watermark, leaf: 0, ahead: "" };
  createLagLog(log)(providerId, { rollup, uncoveredCharges, now: Date.parse(time) });
  expect(entries()).toEqual([shown]);
});
