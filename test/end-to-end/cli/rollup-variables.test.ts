/** The variables of `npm run rollup`: what its options say wins. */
import { afterEach, expect, it, vi } from "vitest";
import { runCommand } from "../../support/commands/run-command.ts";

// Options are read before the database is looked for.
const NO_DATABASE = "error: DATABASE_URL is not set";

afterEach(() => vi.unstubAllEnvs());

it.each<[string, string, string[], string]>([
  [
    "ROLLUP_MARGIN_SECONDS",
    "soon",
    [],
    "error: option '--margin <seconds>' value 'soon' from env 'ROLLUP_MARGIN_SECONDS' is invalid. ",
  ],
  ["ROLLUP_MARGIN_SECONDS", "60", [], NO_DATABASE],
  ["ROLLUP_MARGIN_SECONDS", "", [], NO_DATABASE],
  ["ROLLUP_WATCH_SECONDS", "0", [], "error: option '--watch <seconds>' value '0' from env "],
  ["ROLLUP_WATCH_SECONDS", "30", ["--verify"], NO_DATABASE],
  ["ROLLUP_CHECK_PERIOD_SECONDS", "daily", [], "error: option '--check-period <seconds>' value "],
  ["ROLLUP_CONCURRENCY", "0", [], "error: option '--concurrency <number>' value '0' from env "],
  [
    "ROLLUP_CONCURRENCY",
    "8",
    ["--concurrency", "none"],
    "error: option '--concurrency <number>' argument 'none' is invalid. ",
  ],
])("%s=%s with the options %j", async (name, value, args, error) => {
  vi.stubEnv(name, value);
  const { code, stdout, stderr } = await runCommand("rollup", args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain(error);
});

it("--verify with --watch is refused", async () => {
  const { code, stderr } = await runCommand("rollup", ["--verify", "--watch", "30"]);
  expect(code).toBe(1);
  expect(stderr).toContain(
    "error: option '--verify' cannot be used with option '--watch <seconds>'",
  );
});
