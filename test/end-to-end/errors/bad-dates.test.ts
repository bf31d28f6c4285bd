/** Dates that cannot be right: the message names the parameter, what came and what would be right. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENTS, QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { badRequest, bare, through } from "../../support/refusal.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

const RIGHT = "it should be an ISO 8601 date or date-time, like 2026-11-20 or 2026-11-20T09:30:00Z";

/** What came, and what the message says of it before "; it should be …". */
const MALFORMED: readonly (readonly [came: string, told: string])[] = [
  ["x", '"x"'],
  ["now", '"now"'],
  [" ", '" "'],
  ["0", '"0"'],
  ["1732060800", '"1732060800"'],
  ["2026", '"2026"'],
  ["2026-11", '"2026-11"'],
  ["2026-1-2", '"2026-1-2"'],
  ["20261120", '"20261120"'],
  ["20.11.2026", '"20.11.2026"'],
  ["11/20/2026", '"11/20/2026"'],
  ["2026-W47-5", '"2026-W47-5"'],
  ["2026-324", '"2026-324"'],
  ["-2026-11-20", '"-2026-11-20"'],
  ["+002026-11-20", '"+002026-11-20"'],
  [" 2026-11-20", '" 2026-11-20"'],
  ["2026-11-20\n", '"2026-11-20\\n"'],
  ["2026-11-20T", '"2026-11-20T"'],
  ["2026-11-20T09", '"2026-11-20T09"'],
  ["2026-11-20 09:30:00", '"2026-11-20 09:30:00"'],
  ["2026-11-20T09:30:00.", '"2026-11-20T09:30:00."'],
  ["2026-11-20T09:30:00 UTC", '"2026-11-20T09:30:00 UTC"'],
  ["2026-11-20T09:30:00Z[UTC]", '"2026-11-20T09:30:00Z[UTC]"'],
  ["2026-11-20T09:30:00+1", '"2026-11-20T09:30:00+1"'],
  ["2026-11-20Z", '"2026-11-20Z"'],
  ["２０２６-11-20", '"２０２６-11-20"'],
  ["2026-11-20'; DROP TABLE charges; --", '"2026-11-20\'; DROP TABLE charges; --"'],
  ["9".repeat(41), `"${"9".repeat(40)}…"`],
  ["2026-02-29", '"2026-02-29" (there is no day 2026-02-29)'],
  ["2026-00-10", '"2026-00-10" (there is no day 2026-00-10)'],
  ["2026-13-10", '"2026-13-10" (there is no day 2026-13-10)'],
  ["2026-11-31T10:00:00Z", '"2026-11-31T10:00:00Z" (there is no day 2026-11-31)'],
  ["2026-11-20T24:00:00Z", '"2026-11-20T24:00:00Z" (a day\'s time goes from 00:00:00 to 23:59:59)'],
  ["2026-11-20T09:60", '"2026-11-20T09:60" (a day\'s time goes from 00:00:00 to 23:59:59)'],
  ["2026-12-31T23:59:60Z", '"2026-12-31T23:59:60Z" (a day\'s time goes from 00:00:00 to 23:59:59)'],
  [
    "2026-11-20T09:30:00+24:00",
    '"2026-11-20T09:30:00+24:00" (an offset goes from -23:59 to +23:59)',
  ],
  [
    "2026-11-20T09:30:00+02:60",
    '"2026-11-20T09:30:00+02:60" (an offset goes from -23:59 to +23:59)',
  ],
  ["0000-01-01", '"0000-01-01" (the years go from 0001 to 9999, in UTC)'],
  [
    "0001-01-01T00:00:00+00:01",
    '"0001-01-01T00:00:00+00:01" (the years go from 0001 to 9999, in UTC)',
  ],
  [
    "9999-12-31T23:59:59-00:01",
    '"9999-12-31T23:59:59-00:01" (the years go from 0001 to 9999, in UTC)',
  ],
];

describe.each(QUICK_CLIENTS)("through %s", (name) => {
  it.each(MALFORMED)("%j is no date", async (came, told) => {
    const door = fixture.clients.named(name);
    for (const parameter of ["startDate", "endDate"]) {
      const outcome = await door.call({
        method: "GetServerBreakdown",
        message: { [parameter]: came },
        headers: withKey(fixture.key),
      });
      const refusal = badRequest(`${parameter} is ${told}; ${RIGHT}`);
      expect(bare(outcome)).toEqual(through(door, refusal));
    }
  });
});

const ORDER = [
  {
    of: "a start after the end",
    message: { startDate: "2026-11-20T00:00:00.001Z", endDate: "2026-11-20T00:00:00Z" },
    told: "startDate must not be after endDate: startDate is 2026-11-20T00:00:00.001Z, endDate is 2026-11-20T00:00:00.000Z",
  },
  {
    of: "a start after the end of another zone",
    message: { startDate: "2026-11-20T00:00:00Z", endDate: "2026-11-20T01:59:59.999+02:00" },
    told: "startDate must not be after endDate: startDate is 2026-11-20T00:00:00.000Z, endDate is 2026-11-19T23:59:59.999Z",
  },
  {
    of: "both malformed",
    message: { startDate: "a", endDate: "b" },
    told: `startDate is "a"; ${RIGHT}`,
  },
];

describe.each(CLIENTS)("through %s", (name) => {
  it.each(ORDER)("$of is refused", async ({ message, told }) => {
    const door = fixture.clients.named(name);
    const headers = withKey(fixture.key);
    const outcome = await door.call({ method: "GetServerBreakdown", message, headers });
    expect(bare(outcome)).toEqual(through(door, badRequest(told)));
  });

  const ask = async (message: { startDate?: string; endDate?: string }): Promise<string> => {
    const door = fixture.clients.named(name);
    const headers = withKey(fixture.key);
    const outcome = await door.call({ method: "GetServerBreakdown", message, headers });
    if (!("message" in outcome)) return "no refusal";
    expect(outcome.code).toBe(door.protocol === "rest" ? "400" : "INVALID_ARGUMENT");
    return door.protocol === "rest" ? JSON.parse(outcome.message).message : outcome.message;
  };

  it("an end before the default start says that a start is needed", async () => {
    expect(await ask({ endDate: "2020-01-01" })).toMatch(
      /^startDate is needed: without it the period starts 30 days before now, at \d{4}-\d\d-\d\dT[\d:.]{12}Z, which is after endDate, 2020-01-01T23:59:59\.999Z$/,
    );
  });

  it("a start in the future needs an end", async () => {
    expect(await ask({ startDate: "2999-01-01" })).toMatch(
      /^startDate must not be after endDate: startDate is 2999-01-01T00:00:00\.000Z, and without endDate the period ends now, at \d{4}-\d\d-\d\dT[\d:.]{12}Z$/,
    );
  });
});
