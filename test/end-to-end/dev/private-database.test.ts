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

/** A process with a private database that tells where it is, and then waits. */
const OWNER = `
  import { startPrivateDatabase } from ${JSON.stringify(MODULE)};
  process.on("SIGINT", () => process.send("interrupted"));
  const { pid, folder } = await startPrivateDatabase();
  process.send({ pid, folder });
  process.on("message", () => { throw new Error("a fault of its own"); });
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
  ])("outlives Ctrl-C, and is gone, files and all, when its owner %s", async (_, end) => {
    const { owner, pid, folder } = await startOwner();
    // What a terminal does: the signal goes to the whole foreground process group.
    process.kill(-(owner.pid ?? 0), "SIGINT");
    await once(owner, "message");
    await sleep(200);
    expect([isRunning(pid), existsSync(folder)]).toEqual([true, true]);

    end(owner);
    await expect.poll(() => existsSync(folder), { timeout: 10_000 }).toBe(false);
    expect(isRunning(pid)).toBe(false);
  });

  describe("that runs", () => {
    let database: PrivateDatabase;
    beforeAll(async () => {
      database = await startPrivateDatabase();
    });
    afterAll(() => database.stop());

    it("is open to its one account alone", async () => {
      const url = new URL(database.url);
      url.username = "root";
      url.password = "";
      await expect(createConnection(url.href)).rejects.toThrow(/Access denied/);
    });

    it("answers nothing while it is suspended, and goes on afterwards", async () => {
      const connection = await createConnection(database.url);
      await database.suspend();
      onTestFinished(() => database.resume());
      const answer = connection.query("SELECT 1");
      expect(await Promise.race([answer, sleep(300, "silence")])).toBe("silence");
      database.resume();
      await answer;
      await connection.end();
    });

    it("keeps what was committed when it is killed and started again", async () => {
      const before = await createConnection(database.url);
      before.on("error", () => {}); // the connection dies with the server
      await before.query("CREATE TABLE seen (id INT)");
      await before.query("INSERT INTO seen VALUES (7)");

      await database.kill();
      expect(database.pid).toBeUndefined();
      await database.start();

      const after = await createConnection(database.url);
      expect((await after.query("SELECT id FROM seen"))[0]).toEqual([{ id: 7 }]);
      await after.end();
    });
  });

  it.each([
    ["/nowhere/mysqld", "MYSQLD is /nowhere/mysqld, which is not the absolute path of a program"],
    ["mysqld", "MYSQLD is mysqld, which is not the absolute path of a program"],
    ["/bin/sh", "MYSQLD is /bin/sh, which is not a MySQL or MariaDB server"],
  ])("is refused where MYSQLD is %s", async (path, message) => {
    const before = process.env.MYSQLD;
    onTestFinished(() => {
      if (before === undefined) delete process.env.MYSQLD;
      else process.env.MYSQLD = before;
    });
    process.env.MYSQLD = path;
    await expect(startPrivateDatabase()).rejects.toThrow(message);
  });

  it("tells the server's last words where it does not start", async () => {
    const start = startPrivateDatabase({ serverOptions: ["--no-such-option"] });
    await expect(start).rejects.toThrow(/ended with code \d+:\n[\s\S]*no-such-option/);
  });
});
