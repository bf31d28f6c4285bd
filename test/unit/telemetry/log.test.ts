/** The log of a process, to its end. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const LOG = fileURLToPath(new URL("../../../src/telemetry/log.ts", import.meta.url));

/**
 * Runs a script that has a `log`, with its stdout as a shell's pipe.
 *
 * @param shell the command line; `$NODE` runs the script
 * @returns what the command line writes to stdout
 */
function run(script: string, shell = "$NODE | cat"): string {
  const program = `
    import { createLog } from ${JSON.stringify(LOG)};
    const log = createLog("info");
    const lines = (count) => {
      for (let index = 0; index < count; index++) log.info({ index, pad: "x".repeat(100) }, "line");
    };
    ${script}`;
  return execFileSync(
    "sh",
    ["-c", shell.replace("$NODE", '"$NODE" --input-type=module -e "$PROGRAM"')],
    {
      env: { ...process.env, NODE: process.execPath, PROGRAM: program },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 20_000,
    },
  );
}

const parse = (text: string): Record<string, unknown>[] =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));

describe("the log", () => {
  it("has lines with level, time, fields and message, in that order", () => {
    expect(run(`log.warn({ a: 1 }, "text");`)).toMatch(
      /^\{"level":"warn","time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z","a":1,"msg":"text"\}\n$/,
    );
  });

  it.each([
    ["process.exit()", "process.exit(3);"],
    ["an uncaught exception", `throw new Error("expected");`],
    ["an unhandled rejection", `Promise.reject(new Error("expected"));`],
    ["the end of the script", ""],
  ])("loses no line at %s", (_, end) => {
    const entries = parse(run(`lines(500); ${end}`));
    expect(entries.map(({ index }) => index)).toEqual(Array.from({ length: 500 }, (_, i) => i));
  });

  it("waits at exit for a slow reader, but not for long", () => {
    // 300 KB: more than a pipe holds.
    const exit = "lines(2_000); process.exit(3);";
    expect(parse(run(exit, "$NODE | (sleep 0.4; cat)"))).toHaveLength(2_000);
    const unread = `exec 3>&1; {
      start=$(date +%s%3N); $NODE; echo "$? $(($(date +%s%3N) - start))" >&3
    } | sleep 4`;
    const [code, duration] = run(exit, unread).split(" ").map(Number);
    expect(code).toBe(3);
    expect(duration).toBeLessThan(3_000);
  });

  it("has a line of level fatal at once, and those before it", () => {
    const script = `log.info("first"); log.fatal("last"); process.kill(process.pid, "SIGKILL");`;
    expect(parse(run(script)).map(({ msg }) => msg)).toEqual(["first", "last"]);
  });

  it("does not make the pipe non-blocking for the shell that started the process", () => {
    const script = `
      import { readFileSync } from "node:fs";
      log.info({ fdinfo: readFileSync("/proc/self/fdinfo/1", "utf8") }, "stdout");`;
    const [entry] = parse(run(script));
    const [, flags] = /^flags:\s+(\d+)$/m.exec(`${entry?.fdinfo}`) ?? [];
    const O_NONBLOCK = 0o4000;
    expect(Number.parseInt(flags ?? "", 8) & O_NONBLOCK).toBe(0);
  });
});
