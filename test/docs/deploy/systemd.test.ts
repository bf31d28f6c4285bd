/** The units of systemd: valid by systemd-analyze, and right for the programs that they start. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { readConfig, readDatabaseUrl } from "../../../src/config.ts";
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

it("each reads its own files as they are documented, by its group, and nobody else does", () => {
  const folder = mkdtempSync(join(tmpdir(), "revenue-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const groups = new Map([
    ["service.url", settingOf("revenue@.service", "SupplementaryGroups")],
    ["rollup.url", settingOf("revenue-rollup.service", "SupplementaryGroups")],
  ]);
  expect(new Set(groups.values()).size).toBe(2);
  expect(settingOf("revenue-migrate.service", "SupplementaryGroups")).toBe("");
  // The test makes no group on the machine: it writes down who would get which file, and takes the process's own.
  const settings = blockWith("sh", "groupadd").replaceAll("/etc/revenue", folder);
  const stubs = `groupadd() { echo "group $3"; }
install() { [ "$3" != -g ] || { echo "$6 is of $4"; set -- "$1" "$2" "$5" "$6"; }; command install "$@"; }`;
  const made = spawnSync("/bin/bash", ["-ec", `${stubs}\n${settings}`], { encoding: "utf8" });
  expect(made).toMatchObject({ status: 0 });
  const said = made.stdout.trim().split("\n");
  const expected = [...groups].flatMap(([file, group]) => [
    `group ${group}`,
    `${file} is of ${group}`,
  ]);
  expect(said.sort()).toEqual(expected.sort());
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(modeOf(folder)).toBe("711");
  const modes = Object.fromEntries(
    readdirSync(folder).map((name) => [name, modeOf(join(folder, name))]),
  );
  expect(modes).toEqual({
    "keys.env": "600",
    "migrate.env": "600",
    "rollup.env": "600",
    "rollup.url": "640",
    "service.env": "600",
    "service.url": "640",
  });
  const environment = parseEnv(readFileSync(join(folder, "service.env"), "utf8"));
  expect(readDatabaseUrl(environment)).toMatchObject({ user: "revenue", database: "revenue" });
});

it("a stop has its time, files are open for all connections, and no line of a call is lost", () => {
  const { lameDuck, grace, maxConnections } = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });
  const numberOf = (name: string) => Number(settingOf("revenue@.service", name));
  expect(numberOf("TimeoutStopSec") * 1_000).toBeGreaterThan(lameDuck + grace);
  expect(numberOf("LimitNOFILE")).toBe(maxConnections + GRPC_LIMITS.maxConnections + 256);
  expect(numberOf("LogRateLimitIntervalSec")).toBe(0);
});
