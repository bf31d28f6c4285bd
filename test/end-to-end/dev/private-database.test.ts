/** The private database server: its lifetime, its account and its failed starts. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startPrivateDatabase } from "../../../dev/private-database/private-database.ts";
import { connectTo } from "../../support/database.ts";

const MODULE = join(import.meta.dirname, "../../../dev/private-database/private-database.ts");

/** A process that starts a private database, reports it, and waits. */
const OWNER = `
  import { startPrivateDatabase } from ${JSON.stringify(MODULE)};
  process.on("SIGINT", () => process.send("interrupted"));
  const { pid, folder, url } = await startPrivateDatabase();
  process.send({ pid, folder, url });
`;

describe.skipIf(process.env.DATABASE_URL)("a private database", () => {
  it("survives Ctrl-C, and ends and is deleted when its owner is killed", async () => {
    const owner = spawn(process.execPath, ["--input-type=module", "-e", OWNER], {
      detached: true,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    onTestFinished(() => void owner.kill("SIGKILL"));
    const [{ pid, folder, url }] = await once(owner, "message");
    // As a terminal does: the signal goes to the whole foreground process group.
    process.kill(-(owner.pid ?? 0), "SIGINT");
    await once(owner, "message");
    const connection = await connectTo(url);
    await connection.query("SELECT 1");
    await connection.end();
    const root = Object.assign(new URL(url), { username: "root", password: "" });
    await expect(connectTo(root.href)).rejects.toThrow(/Access denied/);

    owner.kill("SIGKILL");
    await expect.poll(() => existsSync(folder)).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it.each([
    ["/nowhere/mysqld", "MYSQLD must be the absolute path of a program: /nowhere/mysqld"],
    ["/bin/sh", "MYSQLD must be a MySQL or MariaDB server: /bin/sh"],
  ])("does not start if MYSQLD is %s", async (path, message) => {
    await expect(startOn(path)).rejects.toThrow(message);
  });

  it("reports the output of a server that fails", async () => {
    const folder = mkdtempSync(join(tmpdir(), "revenue-failing-server-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const server = join(folder, "mysqld");
    const script = `#!/bin/sh
      case $* in *--version) echo "mysqld Ver 99.0.0 (MySQL)" ;; *) echo "no space left"; exit 3 ;; esac`;
    writeFileSync(server, script, { mode: 0o755 });
    await expect(startOn(server)).rejects.toThrow(/ended with code 3:\n(.*\n)*no space left/);
  });
});

/** Starts a private database on a server program. */
function startOn(path: string): Promise<unknown> {
  vi.stubEnv("MYSQLD", path);
  onTestFinished(() => void vi.unstubAllEnvs());
  return startPrivateDatabase();
}
