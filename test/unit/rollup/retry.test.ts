/** Which errors let a run close its connections and try again. */
import { expect, it } from "vitest";
import { isProviderSpecific, needsNewConnections } from "../../../src/rollup/write/run/retry.ts";

const error = (fields: object) => Object.assign(new Error("failed"), fields);

it.each([
  ["a read-only primary", { errno: 1290, sqlState: "HY000" }],
  ["a read-only replica", { errno: 1836, sqlState: "HY000" }],
  ["a Galera node that is not ready", { errno: 1047, sqlState: "08S01" }],
  ["a shutdown", { errno: 1053, sqlState: "08S01" }],
  ["a failed certification", { code: "ER_TRANSACTION_ROLLBACK_DURING_COMMIT", errno: 3101 }],
  ["a deadlock", { code: "ER_LOCK_DEADLOCK", errno: 1213 }],
  ["a lost connection", { code: "PROTOCOL_CONNECTION_LOST" }],
])("%s concerns the connection, and no single provider", (_, fields) => {
  expect(needsNewConnections(error(fields))).toBe(true);
  expect(isProviderSpecific(error(fields))).toBe(false);
});

it("a lock that is held for long concerns a provider's rows", () => {
  const held = error({ code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" });
  expect(isProviderSpecific(held)).toBe(true);
});

it("a host of which no address can be reached concerns the connection, the failures of some providers do not", () => {
  const refused = ["::1", "127.0.0.1"].map(() => error({ code: "ECONNREFUSED" }));
  const unreachable = Object.assign(new AggregateError(refused), { code: "ECONNREFUSED" });
  expect(needsNewConnections(unreachable)).toBe(true);
  const held = error({ code: "ER_LOCK_WAIT_TIMEOUT", errno: 1205, sqlState: "HY000" });
  const ofProviders = new AggregateError([new Error("provider 1: Lock wait", { cause: held })]);
  expect(needsNewConnections(ofProviders)).toBe(false);
});

it("an error of a provider's data does not concern the connection", () => {
  const own = error({ errno: 1690, sqlState: "22003" });
  expect(needsNewConnections(own)).toBe(false);
  expect(isProviderSpecific(own)).toBe(true);
});
