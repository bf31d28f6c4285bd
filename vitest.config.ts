/** How the tests are run. */
import { defineConfig } from "vitest/config";

// The tests run far from UTC and from English, so that whatever relies on the process's own
// zone or locale shows. Node reads both once, at its start: they are set here, before vitest
// starts the processes that run the tests, and those hand them on to what they start.
process.env.TZ = "America/New_York";
process.env.LC_ALL = "de_DE.UTF-8";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    globalSetup: "test/support/database-server.ts",
    reporters: ["default", "./test/support/count-reporter.ts"],
    slowTestThreshold: 5_000,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
});
