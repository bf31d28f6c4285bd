/** The units of systemd: valid by systemd-analyze, and right for the programs that they start. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { readConfig } from "../../../src/config.ts";
import { createDatabase } from "../../support/database.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";
import { HAS_CURL, terminalEnvironment } from "../commands/terminal.ts";
import { page, ROOT, rootFile } from "../markdown.ts";
import { type DebianProgram, findDebianProgram } from "./debian-program.ts";

const UNITS = readdirSync(join(ROOT, "deploy/systemd")).sort();
const { scripts }: { scripts: Record<string, string> } = JSON.parse(rootFile("package.json"));
const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });

/** The values of a setting of a unit. */
function settingsOf(unit: string, name: string): string[] {
  return rootFile(`deploy/systemd/${unit}`).match(new RegExp(`(?<=^${name}=).*$`, "gm")) ?? [];
}

/** The value of a setting of a unit; of the last one if it comes more than once. */
function settingOf(unit: string, name: string): string {
  return settingsOf(unit, name).at(-1) ?? "";
}

let analyze: DebianProgram;
beforeAll(() => {
  analyze = findDebianProgram("systemd", "usr/bin/systemd-analyze");
});

it("systemd accepts them, and knows every setting", () => {
  const folder = mkdtempSync(join(tmpdir(), "revenue-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const unit of UNITS) {
    const text = rootFile(`deploy/systemd/${unit}`)
      .replaceAll("/opt/node/bin/node", process.execPath)
      .replaceAll("/usr/bin/curl", "/bin/true");
    writeFileSync(join(folder, unit), text);
  }
  const { status, stdout, stderr } = spawnSync(
    analyze.path,
    ["verify", "--man=no", ...UNITS.map((unit) => join(folder, unit))],
    { encoding: "utf8", env: { ...process.env, ...analyze.env } },
  );
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: "" });
});

it.each([
  ["revenue@.service", "start"],
  ["revenue-rollup.service", "rollup"],
  ["revenue-migrate.service", "migrate"],
])("%s starts what npm run %s starts", (unit, script) => {
  expect(UNITS).toContain(unit);
  const program = scripts[script]?.replace(/^exec node /, "/opt/node/bin/node ") ?? "none";
  expect(settingOf(unit, "ExecStart").startsWith(program)).toBe(true);
  expect(page("docs/deployment.md")).toContain(settingOf(unit, "EnvironmentFile"));
});

it("all run with the same permissions of Node, and those that log a line for each call lose none", () => {
  const permissions = UNITS.map((unit) => settingOf(unit, "Environment"));
  expect(new Set(permissions).size).toBe(1);
  expect(permissions[0]).toMatch(/^"NODE_OPTIONS=--permission --allow-net .*"$/);
  expect(permissions[0]).not.toMatch(/write|child|worker|addon|inspector/);
  for (const unit of ["revenue@.service", "revenue-rollup.service"]) {
    expect(settingOf(unit, "LogRateLimitIntervalSec")).toBe("0");
  }
});

it("an upgrade migrates and builds in the new folder, before the link and what runs are changed", () => {
  const text = page("docs/deployment.md");
  const upgrade = text.slice(text.indexOf("**To upgrade**"));
  const order = [
    "src/cli/migrate.ts\n",
    "src/cli/rollup.ts\n",
    "ln -sfn",
    "systemctl daemon-reload",
    "systemctl restart revenue-rollup",
    "systemctl restart revenue@1 && sleep 5 && systemctl restart revenue@2\n",
  ].map((command) => upgrade.indexOf(command));
  expect(order).toEqual(order.toSorted((one, other) => one - other));
  expect(order).not.toContain(-1);
});

it("a stop has the time that the service takes, and files are open for all connections", () => {
  const stop = (config.lameDuck + config.grace) / 1_000;
  expect(Number(settingOf("revenue@.service", "TimeoutStopSec"))).toBeGreaterThan(stop);
  expect(Number(settingOf("revenue-rollup.service", "TimeoutStopSec"))).toBeGreaterThan(10);
  expect(Number(settingOf("revenue@.service", "LimitNOFILE"))).toBe(config.maxConnections + 256);
});

describe("revenue@1", () => {
  it.runIf(HAS_CURL)("is started, is ready when its ExecStartPost ends, and stops", async () => {
    const database = await createDatabase();
    onTestFinished(() => database.drop());
    const unit = "revenue@.service";
    const ports = new Map<string, number>();
    for (const base of ["808%i", "5005%i", "946%i"]) ports.set(base, await freePort());
    const placed = (text: string) =>
      [...ports].reduce((line, [base, port]) => line.replaceAll(base, `${port}`), text);
    const [variables = ""] = settingsOf(unit, "Environment");
    const environment = Object.fromEntries(
      placed(variables)
        .split(" ")
        .map((word) => word.split("=") as [string, string]),
    );
    const [, ...args] = settingOf(unit, "ExecStart").split(" ");
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: terminalEnvironment({
        ...environment,
        DATABASE_URL: database.url,
        NODE_OPTIONS: SEAT_BELT,
      }),
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    onTestFinished(() => void child.kill("SIGKILL"));
    const [curl = "", ...options] = placed(settingOf(unit, "ExecStartPost")).split(" ");
    const ready = spawn(curl, options, { stdio: "inherit" });
    expect(await once(ready, "exit")).toEqual([0, null]);
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
  });
});
