/** The units of systemd: valid by systemd-analyze, and right for the programs that they start. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { GRPC_LIMITS } from "../../../src/grpc/limits.ts";
import { blockWith, ROOT, rootFile } from "../markdown.ts";
import { findDebianProgram } from "./debian-program.ts";

const UNITS = readdirSync(join(ROOT, "deploy/systemd")).sort();
const { scripts }: { scripts: Record<string, string> } = JSON.parse(rootFile("package.json"));

/** The value of a setting of a unit; of the last one if it comes more than once. */
const settingOf = (unit: string, name: string) =>
  rootFile(`deploy/systemd/${unit}`)
    .match(new RegExp(`(?<=^${name}=).*$`, "gm"))
    ?.at(-1) ?? "";

it("systemd accepts them, and knows every setting", () => {
  const analyze = findDebianProgram("systemd", "usr/bin/systemd-analyze");
  const folder = mkdtempSync(join(tmpdir(), "revenue-units-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const unit of UNITS) {
    const text = rootFile(`deploy/systemd/${unit}`)
      .replaceAll("/opt/node/bin/node", process.execPath)
      .replaceAll("/usr/bin/curl", "/bin/true");
    writeFileSync(join(folder, unit), text);
  }
  const files = UNITS.map((unit) => join(folder, unit));
  const { status, stdout, stderr } = spawnSync(analyze.path, ["verify", "--man=no", ...files], {
    encoding: "utf8",
    env: { ...process.env, ...analyze.env },
  });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: "" });
});

it.each([
  ["revenue@.service", "start"],
  ["revenue-rollup.service", "rollup"],
  ["revenue-migrate.service", "migrate"],
])("%s starts what npm run %s starts, with the same permissions of Node", (unit, script) => {
  const program = scripts[script]?.replace(/^exec node /, "/opt/node/bin/node ") ?? "none";
  expect(settingOf(unit, "ExecStart").startsWith(program)).toBe(true);
  const permissions = settingOf(unit, "Environment");
  expect(permissions).toBe(settingOf("revenue@.service", "Environment"));
  expect(permissions).toMatch(/^"NODE_OPTIONS=--permission --allow-net .*"$/);
  expect(permissions).not.toMatch(/write|child|worker|addon|inspector/);
});

it("each may read what the documented settings leave for its group, and nobody else", async () => {
  const group = settingOf("revenue@.service", "SupplementaryGroups");
  for (const unit of UNITS) expect(settingOf(unit, "SupplementaryGroups"), unit).toBe(group);
  const settings = blockWith("sh", "groupadd");
  expect(settings).toContain(`groupadd --system --force ${group}\n`);
  const folder = mkdtempSync(join(tmpdir(), "revenue-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // Of this process's own group: the test makes none on the machine.
  const own = settings
    .replace(/^groupadd.*$/m, "")
    .replaceAll(`-g ${group}`, `-g ${process.getgid?.()}`)
    .replaceAll("/etc/revenue", folder);
  const made = spawnSync("/bin/bash", ["-ec", own], { encoding: "utf8" });
  expect(made).toMatchObject({ status: 0 });
  const modes = readdirSync(folder).map((name) => {
    const { mode } = statSync(join(folder, name));
    return [name, (mode & 0o777).toString(8)];
  });
  for (const [name, mode] of modes) expect(mode, name).toBe(name?.endsWith(".url") ? "640" : "600");
  expect((statSync(folder).mode & 0o777).toString(8)).toBe("750");
  const environment = parseEnv(readFileSync(join(folder, "service.env"), "utf8"));
  expect(JSON.stringify(readConfig(environment))).toContain(`"user":"revenue"`);
});

it("a stop has its time, files are open for all connections, and no line of a call is lost", () => {
  const { lameDuck, grace, maxConnections } = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });
  const numberOf = (name: string) => Number(settingOf("revenue@.service", name));
  expect(numberOf("TimeoutStopSec") * 1_000).toBeGreaterThan(lameDuck + grace);
  expect(numberOf("LimitNOFILE")).toBe(maxConnections + GRPC_LIMITS.maxConnections + 256);
  expect(numberOf("LogRateLimitIntervalSec")).toBe(0);
});
