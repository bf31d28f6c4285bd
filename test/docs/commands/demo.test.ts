/** `npm run demo`: what it prints, the requests that it prints, and what is left after Ctrl-C. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFree } from "../../../dev/free-port.ts";
import { poll, until } from "../../support/poll.ts";
import { blockWith, ROOT } from "../markdown.ts";
import { isGroupLeft, processesWith } from "./processes.ts";
import { HAS_CURL, paste, terminalEnvironment } from "./terminal.ts";

/** Lines without what differs from run to run: keys, ports, versions and durations. */
function stableLines(text: string): string[] {
  return text
    .replaceAll(/rvk_[0-9A-Za-z]+…?/g, "KEY")
    .replaceAll(/127\.0\.0\.1:\d+/g, "HOST:PORT")
    .replaceAll(/mysql:\/\/revenue:[^@]+@/g, "mysql://revenue:PASSWORD@")
    .replaceAll(/(MariaDB|MySQL) [\d.]+ \(.*\)/g, "SERVER")
    .replaceAll(/(MariaDB|MySQL) answers (.*) after [\d.]+ s/g, "SERVER answers $2")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

/** With DATABASE_URL the machine may have no server of its own. */
describe.skipIf(process.env.DATABASE_URL)("npm run demo", () => {
  const folder = mkdtempSync(join(tmpdir(), "readme-demo-"));
  let demo: ChildProcess;
  let ended: Promise<unknown>;
  const output = { stdout: "", stderr: "" };

  beforeAll(async () => {
    chmodSync(folder, 0o700);
    // In a process group of its own, as a terminal does.
    demo = spawn("npm", ["run", "demo"], {
      cwd: ROOT,
      env: terminalEnvironment({
        ...{ HTTP_PORT: "0", GRPC_PORT: "0", ADMIN_PORT: "0" },
        TMPDIR: folder,
      }),
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    ended = once(demo, "close");
    process.once("exit", kill); // also if the run of the tests is ended meanwhile
    for (const stream of ["stdout", "stderr"] as const) {
      demo[stream]?.setEncoding("utf8").on("data", (text: string) => {
        output[stream] += text;
      });
    }
    await poll(() => {
      if (!isGroupLeft(leader())) throw new Error(`the demo ended:\n${output.stderr}`);
      return output.stdout.includes("Ctrl-C stops") || undefined;
    }, "the end of the demo's instructions");
  });

  /** The process id of npm, which is also that of the group. */
  const leader = () => demo?.pid ?? Number.NaN;
  const kill = () => {
    if (isGroupLeft(leader())) process.kill(-leader(), "SIGKILL");
  };
  afterAll(() => {
    kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The ports that the demo prints, of HTTP and then of gRPC. */
  const ports = () => [
    ...new Set([...output.stdout.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))),
  ];

  it("prints what the README shows, in the same order", () => {
    const shown = stableLines(blockWith("console", "The service is ready."));
    // Without the command itself, the ellipsis at the end, and what is done only once.
    const expected = shown.filter((line) => !/^\$ |^ *…$|^installing /.test(line));
    const printed = [...stableLines(output.stderr), ...stableLines(output.stdout)];
    expect(printed.filter((line) => expected.includes(line))).toEqual(expected);
  });

  it.skipIf(!HAS_CURL)("prints requests that work as pasted", async () => {
    const [, text = ""] = output.stdout.split("Requests to paste");
    const requests = [...text.matchAll(/^ {2}((?:curl|npx) (?:.*\\\n)*.*)$/gm)];
    expect(requests.length).toBeGreaterThan(3);
    for (const [, request = ""] of requests) {
      expect(request).toContain(`:${ports()[request.startsWith("curl") ? 0 : 1]}/`);
      const { code, stdout, stderr } = await paste(request, {});
      expect(code, stderr).toBe(0);
      expect(stdout, request).toMatch(/"(summary|totalServers|days)":/);
    }
    // With the address of its database, for the commands.
    const [, DATABASE_URL = ""] = /^ {2}export DATABASE_URL=(\S+)$/m.exec(output.stdout) ?? [];
    const { code, stdout, stderr } = await paste("npm run key -- list", { DATABASE_URL });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(/rvk_\w{4}/.exec(output.stdout)?.[0]);
  });

  it("leaves no process, no file and no open port after Ctrl-C", async () => {
    expect(processesWith("TMPDIR", folder)).not.toEqual([]);
    expect(readdirSync(folder)).not.toEqual([]);
    // A terminal sends the signal to the whole foreground process group.
    process.kill(-leader(), "SIGINT");
    await ended;
    expect(output.stderr).toMatch(/stopped; nothing is left running\n/);
    await until(() => processesWith("TMPDIR", folder).length === 0);
    expect(isGroupLeft(leader())).toBe(false);
    // npm and Node keep caches in TMPDIR; the database's files are those with its name.
    expect(readdirSync(folder).filter((name) => /revenue/.test(name))).toEqual([]);
    expect(await Promise.all(ports().map((port) => isFree(port)))).not.toContain(false);
  });
});
