/** The log of a process, to its end. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const LOG = fileURLToPath(new URL("../../../src/telemetry/log.ts", import.meta.url));

/** Options of Node that run a script with a `log`. */
const optionsOf = (script: string) => [
  "--input-type=module",
  "-e",
  `import { createLog } from ${JSON.stringify(LOG)};
   const log = createLog("info");
   const lines = (count) => {
     for (let index = 0; index < count; index++) log.info({ index, pad: "x".repeat(100) }, "line");
   };
   ${script}`,
];

/** Runs a script with its stdout as a shell's pipe to `reader`. Returns the lines that were read. */
function run(script: string, reader = "cat"): string[] {
  const command = ["-c", `"$@" | ${reader}`, "sh", process.execPath, ...optionsOf(script)];
  const output = execFileSync("sh", command, { stdio: ["ignore", "pipe", "ignore"] });
  return `${output}`.split("\n").slice(0, -1);
}

const indexes = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).index);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("the log", () => {
  it("has lines with level, time, fields and message, and leaves the shell's pipe as it is", () => {
    const [first, second] = run(`
      import { readFileSync } from "node:fs";
      log.warn({ a: 1 }, "text");
      log.info({ fdinfo: readFileSync("/proc/self/fdinfo/1", "utf8") }, "stdout");`);
    expect(first).toMatch(
      /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","a":1,"msg":"text"\}$/,
    );
    const [, flags] = /^flags:\s+(\d+)$/m.exec(JSON.parse(second ?? "").fdinfo) ?? [];
    const O_NONBLOCK = 0o4000;
    expect(Number.parseInt(flags ?? "", 8) & O_NONBLOCK).toBe(0);
  });

  it("loses no line at an uncaught exception", () => {
    expect(indexes(run(`lines(500); throw new Error("expected");`))).toEqual(upTo(500));
  });

  // 300 KB: more than a pipe holds.
  it("waits at exit for a slow reader", () => {
    const lines = run("lines(2_000); process.exit(3);", "(sleep 0.2; cat)");
    expect(indexes(lines)).toEqual(upTo(2_000));
  });

  it("does not wait at exit for a reader that does not read", async () => {
    const child = spawn(process.execPath, optionsOf("lines(2_000); process.exit(3);"), {
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(await once(child, "exit")).toEqual([3, null]);
    child.stdout.destroy();
  });

  it("has a line of level fatal at once, and those before it", () => {
    const lines = run(
      `log.info("first"); log.fatal("last"); process.kill(process.pid, "SIGKILL");`,
    );
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(["first", "last"]);
  });
});
