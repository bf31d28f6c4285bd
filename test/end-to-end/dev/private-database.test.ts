/** The private database server: its lifetime, its account and its failed starts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";

const MODULE = join(import.meta.dirname, "../../../dev/private-database/private-database.ts");

/** A process that starts a private database, reports its pid and folder, and waits. */
const OWNER = `
  import { startPrivateDatabase } from ${JSON.stringify(MODULE)};
  process.on("SIGINT", () => process.send("interrupted"));
  const { pid, folder } = await startPrivateDatabase();
  process.send({ pid, folder });
  process.on("message", () => { throw new Error("uncaught"); });
`;

interface Owned {
  readonly owner: ChildProcess;
  readonly pid: number;
  readonly folder: string;
}

async function startOwner(): Promise<Owned> {
  const owner = spawn(process.execPath, ["--input-type=module", "-e", OWNER], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  onTestFinished(() => {
    owner.kill("SIGKILL");
  });
  const [{ pid, folder }] = await once(owner, "message");
  return { owner, pid, folder };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe.skipIf(process.env.DATABASE_URL)("a private database", () => {
  it.each<[string, (owner: ChildProcess) => void]>([
    ["is killed", (owner) => owner.kill("SIGKILL")],
    ["fails", (owner) => owner.send("fail")],
  ])("survives Ctrl-C, and ends and is deleted when its owner %s", async (_, end) => {
    const { owner, pid, folder } = await startOwner();
    // As a terminal does: the signal goes to the whole foreground process group.
    process.kill(-(owner.pid ?? 0), "SIGINT");
    await once(owner, "message");
    await sleep(200); // for a server that ends at the signal
    expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);

    end(owner);
    await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
    expect(isRunning(pid)).toBe(false);
  });

  describe("while it runs", () => {
    let database: PrivateDatabase;
    beforeAll(async () => {
      database = await startPrivateDatabase();
    });
    afterAll(() => database.stop());

    it("accepts its one account only", async () => {
      const url = new URL(database.url);
      url.username = "root";
      url.password = "";
      await expect(createConnection(url.href)).rejects.toThrow(/Access denied/);
    });

    it("does not respond while it is suspended, and responds after that", async () => {
      const connection = await createConnection(database.url);
      await database.suspend();
      onTestFinished(() => database.resume());
      const response = connection.query("SELECT 1");
      expect(await Promise.race([response, sleep(300, "no response")])).toBe("no response");
      database.resume();
      await response;
      await connection.end();
    });

    it("keeps committed data when it is killed and restarted", async () => {
      const before = await createConnection(database.url);
      before.on("error", () => {}); // the connection is closed with the server
      await before.query("CREATE TABLE committed (id INT)");
      await before.query("INSERT INTO committed VALUES (7)");

      await database.kill();
      expect(database.pid).toBeUndefined();
      await database.start();

      const after = await createConnection(database.url);
      expect((await after.query("SELECT id FROM committed"))[0]).toEqual([{ id: 7 }]);
      await after.end();
    });
  });

  it.each([
    ["/nowhere/mysqld", "MYSQLD must be the absolute path of a program: /nowhere/mysqld"],
    ["mysqld", "MYSQLD must be the absolute path of a program: mysqld"],
    ["/bin/sh", "MYSQLD must be a MySQL or MariaDB server: /bin/sh"],
  ])("does not start if MYSQLD is %s", async (path, message) => {
    const before = process.env.MYSQLD;
    onTestFinished(() => {
      if (before === undefined) delete process.env.MYSQLD;
      else process.env.MYSQLD = before;
    });
    process.env.MYSQLD = path;
    await expect(startPrivateDatabase()).rejects.toThrow(message);
  });

  it("reports the server's output if it does not start", async () => {
    const start = startPrivateDatabase({ serverOptions: ["--no-such-option"] });
    await expect(start).rejects.toThrow(/ended with code \d+:\n[\s\S]*no-such-option/);
  });
});
