/** A call that nobody waits for any more ends in the database too, and leaves no query behind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUICK_CLIENTS } from "../../support/clients/clients.ts";
import { withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { lockCharges } from "../../support/service/held-calls.ts";
import { smallLedger } from "../../support/small-ledger.ts";

/**
 * How soon a query is gone after its caller, in milliseconds: less than the second after which a
 * server looks by itself whether the client of a waiting query is still there.
 */
const SHORTLY = 600;

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
});
afterAll(() => fixture?.dispose());

describe.each(QUICK_CLIENTS)("through %s", (name) => {
  it("a caller that goes away ends its query", async () => {
    const id = `gone-${name.replace(/\W+/g, "-")}`;
    const lock = await lockCharges(fixture.database);
    const caller = new AbortController();
    const call = fixture.clients.named(name).call({
      method: "GetOverview",
      headers: [...withKey(fixture.key), ["x-request-id", id]],
      signal: caller.signal,
    });
    const gone = call.then(
      (outcome) => ("code" in outcome ? outcome.code : "answered"),
      () => "aborted",
    );
    await lock.untilWaiting(1);
    caller.abort();
    await lock.untilWaiting(0, SHORTLY);
    expect(["CANCELLED", "aborted"]).toContain(await gone);
    await lock.release();
    expect(await fixture.service.logOf(id)).toMatchObject([{ code: "CANCELLED" }]);
  });
});

const WITH_DEADLINES = QUICK_CLIENTS.filter((name) => name !== "REST");

describe.each(WITH_DEADLINES)("through %s", (name) => {
  it("a caller's deadline ends its query", async () => {
    const id = `late-${name.replace(/\W+/g, "-")}`;
    const lock = await lockCharges(fixture.database);
    const call = fixture.clients.named(name).call({
      method: "GetOverview",
      headers: [...withKey(fixture.key), ["x-request-id", id]],
      timeout: 1_200, // some way from the server's next look
    });
    await lock.untilWaiting(1);
    expect(await call).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    await lock.untilWaiting(0, SHORTLY);
    await lock.release();
    const [line] = await fixture.service.logOf(id);
    expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(line?.code);
  });
});

it("afterwards the service answers as before", async () => {
  for (const name of QUICK_CLIENTS) {
    const headers = withKey(fixture.key);
    const outcome = await fixture.clients.named(name).call({ method: "GetOverview", headers });
    expect(outcome).toHaveProperty("answer");
  }
});
