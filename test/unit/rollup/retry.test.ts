/** Which errors let a run close its connections and try again. */
import { expect, it } from "vitest";
import { isProviderSpecific, needsNewConnections } from "../../../src/rollup/write/run/retry.ts";

const error = (fields: object) => Object.assign(new Error("failed"), fields);

it.each([
  ["a node that is read-only", { errno: 1290, sqlState: "HY000" }],
  ["a failed certification", { code: "ER_TRANSACTION_ROLLBACK_DURING_COMMIT", errno: 3101 }],
  ["a lost connection", { code: "PROTOCOL_CONNECTION_LOST" }],
])("%s concerns the connection, and no single provider", (_, fields) => {
  expect(needsNewConnections(error(fields))).toBe(true);
  expect(isProviderSpecific(error(fields))).toBe(false);
});

it("a lock that is held for long, and an error of its data, concern a provider", () => {
  const held = { code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" };
  const outOfRange = { errno: 1690, sqlState: "22003" };
  for (const each of [held, outOfRange]) expect(isProviderSpecific(error(each))).toBe(true);
  expect(needsNewConnections(error(outOfRange))).toBe(false);
});

it("a host of which no address can be reached concerns the connection, the failures of some providers do not", () => {
  const refused = ["::1", "127.0.0.1"].map(() => error({ code: "ECONNREFUSED" }));
  const unreachable = Object.assign(new AggregateError(refused), { code: "ECONNREFUSED" });
  expect(needsNewConnections(unreachable)).toBe(true);
  const cause = error({ code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205 });
  const ofProviders = new AggregateError([new Error("provider 1: Lock wait", { cause })]);
  expect(needsNewConnections(ofProviders)).toBe(false);
});
