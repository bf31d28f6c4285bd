/**
 * How the tests run. `npm test` runs all; `npm test -- --project unit` those that need neither a
 * database nor a process of the service.
 */
import { randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { TIME_LIMIT } from "./dev/time-limit.ts";
import { SOAK } from "./test/support/soak.ts";

// The tests run far from UTC and from English, so that code that depends on the time zone or the
// locale of the process fails. Node reads both at its start: they are set here, before vitest
// starts its workers, which pass them on to the processes that they start.
process.env.TZ = "America/New_York";
process.env.LC_ALL = "de_DE.UTF-8";

// One seed for all workers. CI's follows from the commit: whoever runs it again draws the same.
process.env.SEED ??= String(randomInt(2 ** 31));

// Workers and the processes that they start compile each module once in a run, not once each.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(
  new URL("node_modules/.cache/node-compile-cache", import.meta.url),
);

/** A wait that fails says what it waited for. So it fails before its test does, which may have begun long before. */
const TEST_LIMIT = 2 * TIME_LIMIT * Math.max(1, SOAK);

const VITESS = {
  name: "vitess",
  include: ["test/vitess/**/*.test.ts"],
  fileParallelism: false,
};

export default defineConfig({
  test: {
    pool: "forks",
    // The files of a worker share its modules: importing the service anew took a fifth of the time.
    isolate: false,
    // Many tests wait for a timeout or for another process, so four share two cores well.
    maxWorkers: 4,
    reporters: ["default", "./test/support/count-reporter.ts"],
    setupFiles: "./test/support/seed-fast-check.ts",
    slowTestThreshold: 5_000,
    testTimeout: TEST_LIMIT,
    hookTimeout: TEST_LIMIT,
    teardownTimeout: TIME_LIMIT,
    // As `poll` of the tests' own.
    expect: { poll: { interval: 10, timeout: TIME_LIMIT } },
    projects: [
      { extends: true, test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "service",
          include: ["test/{database,end-to-end,docs}/**/*.test.ts"],
          globalSetup: "test/support/database-server.ts",
        },
      },
      // On a Vitess that somebody else has started: `npm run vitess`. The files share it.
      ...(process.env.VITESS_URL === undefined ? [] : [{ extends: true as const, test: VITESS }]),
    ],
  },
});
