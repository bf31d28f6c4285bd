/** The flags of `npm run rollup` and their variables: what a flag says wins. */
import { Command } from "commander";
import { afterEach, expect, it, vi } from "vitest";
import { optionOf, ROLLUP_FLAGS } from "../../../src/cli/rollup-flags.ts";

afterEach(() => vi.unstubAllEnvs());

/** The values that the command gets, or the error. */
function valuesOf(args: readonly string[]): unknown {
  const command = new Command().exitOverride().configureOutput({ writeErr() {} });
  for (const flag of ROLLUP_FLAGS) command.addOption(optionOf(flag));
  try {
    return command.parse(args, { from: "user" }).opts();
  } catch (error) {
    return (error as Error).message;
  }
}

const DEFAULTS = { margin: 900, checkPeriod: 86_400, concurrency: 4 };

it.each<[Record<string, string>, string[], unknown]>([
  [{}, [], DEFAULTS],
  [{ ROLLUP_MARGIN_SECONDS: "60" }, [], { ...DEFAULTS, margin: 60 }],
  [{ ROLLUP_MARGIN_SECONDS: "0" }, [], { ...DEFAULTS, margin: 1 }],
  [{ ROLLUP_MARGIN_SECONDS: "" }, [], DEFAULTS],
  [{ ROLLUP_CONCURRENCY: "8" }, ["--concurrency", "2"], { ...DEFAULTS, concurrency: 2 }],
  [{ ROLLUP_WATCH_SECONDS: "0.5" }, [], { ...DEFAULTS, watch: 0.5 }],
  [{ ROLLUP_ADMIN_PORT: "65535" }, [], { ...DEFAULTS, adminPort: 65_535 }],
  [
    { ROLLUP_MARGIN_SECONDS: "soon" },
    [],
    "error: option '--margin <seconds>' value 'soon' from env 'ROLLUP_MARGIN_SECONDS' is invalid. Expected a number of seconds, such as 60.",
  ],
  [
    { ROLLUP_WATCH_SECONDS: "0" },
    [],
    "error: option '--watch <seconds>' value '0' from env 'ROLLUP_WATCH_SECONDS' is invalid. Expected more than 0 seconds.",
  ],
  [
    { ROLLUP_CONCURRENCY: "8" },
    ["--concurrency", "none"],
    "error: option '--concurrency <number>' argument 'none' is invalid. Expected a whole number from 1 to 99.",
  ],
  [
    {},
    ["--admin-port", "70000"],
    "error: option '--admin-port <port>' argument '70000' is invalid. Expected a port; 0 picks a free one.",
  ],
])("with %j, %j", (environment, args, expected) => {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  expect(valuesOf(args)).toEqual(expected);
});
