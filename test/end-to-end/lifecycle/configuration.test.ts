/** An invalid environment: every mistake is printed, one per line, and the exit code is 1. */
import { expect, it } from "vitest";
import { runService } from "../../support/service/service-process.ts";

it("the service prints every mistake in its environment and exits with code 1", async () => {
  const { ending, stdout, stderr } = await runService({
    DATABASE_URL: "postgres://user:hunter2@host/database",
    HTTP_PORT: "http",
  });
  expect({ ending, stdout }).toEqual({ ending: 1, stdout: "" });
  expect(stderr.split("\n")).toEqual([
    expect.stringMatching(/^cannot start: DATABASE_URL /),
    expect.stringMatching(/^cannot start: HTTP_PORT /),
    "",
  ]);
  expect(stderr).not.toContain("hunter2");
});
