/** Debian's Chromium, or another one on the PATH, driven by Playwright. */
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";
import { canInstallPackages } from "../../../dev/private-database/debian-packages.ts";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";

const INSTALL = join(import.meta.dirname, "install-chromium.ts");
/** Held while the package is installed. */
const LOCK = join(tmpdir(), "revenue-chromium.lock");

/**
 * Starts the browser. Installs Debian's package if there is none.
 *
 * @throws Error with instructions if there is no browser and none can be installed
 */
export async function startBrowser(): Promise<Browser> {
  try {
    return await launch();
  } catch (error) {
    if (!canInstallPackages()) throw error;
    // Another test may be installing it: the program is there before its libraries. This one waits.
    // In a process of its own, because this one must answer the test runner meanwhile.
    await promisify(execFile)("flock", [LOCK, process.execPath, INSTALL]);
    return launch();
  }
}

async function launch(): Promise<Browser> {
  const executablePath = ["chromium", "chromium-browser", "google-chrome"]
    .map((name) => findProgram(name))
    .find((path) => path !== undefined);
  if (executablePath === undefined) {
    throw new Error(
      "These tests need Chromium. Install it (Debian: apt-get install chromium; others: see playwright.dev)",
    );
  }
  // The sandbox needs a user other than root. The only pages are the service's.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args, timeout: TIME_LIMIT });
}
