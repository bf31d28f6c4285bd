/** Installing Debian packages, where this machine is a Debian and this user is root. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const APT = "/usr/bin/apt-get";

/** How long to wait for another apt that holds the lock, in seconds. */
const LOCK_TIMEOUT = 180;

/** Whether `installPackages` has what it needs: apt, and root. */
export function canInstallPackages(): boolean {
  return existsSync(APT) && process.getuid?.() === 0;
}

/** Installs packages without what they recommend. Throws an Error with apt's words where it fails. */
export function installPackages(packages: readonly string[], say: (line: string) => void): void {
  say(`installing ${packages.join(" and ")} (about 20 s) ...`);
  // Lists that cannot be brought up to date may still be good enough to install from.
  apt(["update"]);
  const { status, words } = apt(["install", "-y", "--no-install-recommends", ...packages]);
  if (status !== 0) {
    throw new Error(`apt-get could not install ${packages.join(" and ")}:\n${words}`);
  }
}

function apt(args: readonly string[]): { status: number | null; words: string } {
  const run = spawnSync(APT, ["-q", "-o", `DPkg::Lock::Timeout=${LOCK_TIMEOUT}`, ...args], {
    encoding: "utf8",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const words = `${run.stdout}${run.stderr}`.trimEnd().split("\n").slice(-15).join("\n");
  return { status: run.status, words };
}
