/**
 * Malformed periods in every protocol. The parsers' tables of inputs are in test/unit/revenue/period.test.ts
 * and test/unit/transcoding, unknown paths and other methods in test/unit/gateway.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutHeaders } from "../../support/clients/client.ts";
import { FAST_CLIENTS } from "../../support/clients/clients.ts";
import { badRequest, errorThrough } from "../../support/expected-error.ts";
import { type RpcRequest, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

describe.each(FAST_CLIENTS)("through %s", (name) => {
  const call = (method: RpcRequest["method"], message: RpcRequest["message"] = {}) =>
    fixture.clients.get(name).call({ method, message, headers: withKey(fixture.key) });
  const refusal = (message: string) => errorThrough(fixture.clients.get(name), badRequest(message));

  it("a malformed date is an invalid argument, whose message shows characters that are not seen", async () => {
    const message = { startDate: "2026\u202e-11\u200b-20\u00a0\u001b[31m\n" };
    for (const method of ["GetServerBreakdown", "ListDailyRevenue"] as const) {
      expect(withoutHeaders(await call(method, message))).toEqual(
        refusal(
          'startDate: expected an ISO 8601 date or date-time such as 2026-11-20 or 2026-11-20T09:30:00Z, got "2026\\u{202e}-11\\u{200b}-20\\u{a0}\\u{1b}[31m\\u{a}"',
        ),
      );
    }
  });

  it("more than 400 days are an invalid argument", async () => {
    const period = { startDate: "2025-01-01", endDate: "2026-02-05" };
    const outcome = await call("ListDailyRevenue", period);
    expect(withoutHeaders(outcome)).toEqual(
      refusal(
        "startDate: expected a period of at most 400 days, got 401 (from 2025-01-01T00:00:00.000Z to 2026-02-05T23:59:59.999Z)",
      ),
    );
    const whole = { ...period, startDate: "2025-01-02" };
    expect(await call("ListDailyRevenue", whole)).toHaveProperty("response");
  });
});
