/** Installs Debian packages if apt is present and the user is root. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { TIME_LIMIT } from "../time-limit.ts";

const APT = "/usr/bin/apt-get";

/** How long to wait for another apt process to release its lock, in seconds. */
const LOCK_TIMEOUT = TIME_LIMIT / 1_000;

/** Reports whether `installPackages` can run: apt is present and the user is root. */
export function canInstallPackages(): boolean {
  return existsSync(APT) && process.getuid?.() === 0;
}

/** Installs packages without recommended ones. Throws an Error with apt's output if it fails. */
export function installPackages(packages: readonly string[], log: (line: string) => void): void {
  log(`installing ${packages.join(" and ")} (about 20 s) ...`);
  const install = ["install", "-y", "--no-install-recommends", ...packages];
  let run = apt(install);
  if (run.status !== 0) {
    // The package lists may be missing or outdated. They are not updated otherwise: in Debian's
    // container images an update deletes what another apt process has downloaded.
    apt(["update"]);
    run = apt(install);
  }
  const { status, output } = run;
  if (status !== 0) {
    throw new Error(`apt-get could not install ${packages.join(" and ")}:\n${output}`);
  }
}

function apt(args: readonly string[]): { status: number | null; output: string } {
  const run = spawnSync(APT, ["-q", "-o", `DPkg::Lock::Timeout=${LOCK_TIMEOUT}`, ...args], {
    encoding: "utf8",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = `${run.stdout}${run.stderr}`.trimEnd().split("\n").slice(-15).join("\n");
  return { status: run.status, output };
}
