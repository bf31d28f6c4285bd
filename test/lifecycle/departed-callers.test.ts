/** A call that nobody waits for any more ends in the database too, and leaves no query behind. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUICK_DOORS } from "../service/doors.ts";
import { lockCharges } from "../service/held-calls.ts";
import { smallLedger } from "../service/ledger.ts";
import { withKey } from "../service/question.ts";
import { type Stage, setStage } from "../service/stage.ts";

/**
 * How soon a query is gone after its caller, in milliseconds: less than the second after which a
 * server looks by itself whether the client of a waiting query is still there.
 */
const SHORTLY = 600;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage(smallLedger);
});
afterAll(() => stage?.strike());

describe.each(QUICK_DOORS)("through %s", (name) => {
  it("a caller that goes away ends its query", async () => {
    const id = `gone-${name.replace(/\W+/g, "-")}`;
    const lock = await lockCharges(stage.database);
    const caller = new AbortController();
    const call = stage.doors.named(name).call({
      method: "GetOverview",
      headers: [...withKey(stage.key), ["x-request-id", id]],
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
    expect(await stage.service.logOf(id)).toMatchObject([{ code: "CANCELLED" }]);
  });
});

const WITH_DEADLINES = QUICK_DOORS.filter((name) => name !== "REST");

describe.each(WITH_DEADLINES)("through %s", (name) => {
  it("a caller's deadline ends its query", async () => {
    const id = `late-${name.replace(/\W+/g, "-")}`;
    const lock = await lockCharges(stage.database);
    const call = stage.doors.named(name).call({
      method: "GetOverview",
      headers: [...withKey(stage.key), ["x-request-id", id]],
      timeout: 1_200, // some way from the server's next look
    });
    await lock.untilWaiting(1);
    expect(await call).toMatchObject({ code: "DEADLINE_EXCEEDED" });
    await lock.untilWaiting(0, SHORTLY);
    await lock.release();
    const [line] = await stage.service.logOf(id);
    expect(["DEADLINE_EXCEEDED", "CANCELLED"]).toContain(line?.code);
  });
});

it("afterwards the service answers as before", async () => {
  for (const name of QUICK_DOORS) {
    const headers = withKey(stage.key);
    const outcome = await stage.doors.named(name).call({ method: "GetOverview", headers });
    expect(outcome).toHaveProperty("answer");
  }
});
