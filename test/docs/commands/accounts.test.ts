/**
 * From an empty database to a response, as in docs/deployment.md: its SQL from top to bottom, and
 * each command under the account that is meant for it.
 */
import { randomBytes } from "node:crypto";
import type { Connection, RowDataPacket } from "mysql2/promise";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { createRollupPool } from "../../../src/rollup/write/run/pool.ts";
import { verify } from "../../../src/rollup/write/verify.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import {
  type CommandResult,
  runCommand,
  startCommand,
} from "../../support/commands/run-command.ts";
import { connectTo } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { rollUp } from "../../support/rollup/roll-up.ts";
import { startService } from "../../support/service/service-process.ts";
import { blocksWith, codeIn, commands, section } from "../markdown.ts";
import { paste } from "./terminal.ts";

const suffix = randomBytes(4).toString("hex");
const database = `revenue_test_${suffix}`;
const password = randomBytes(18).toString("base64url");

/** An account in the SQL, and the command that it is for. */
interface Account {
  readonly command: string;
  readonly name: string;
  readonly statements: readonly string[];
}

/** The accounts, with the names and the password of this test. */
const accounts: readonly Account[] = blocksWith("sql", "GRANT")
  .flatMap((block) => block.split("\n\n"))
  .map((part) => {
    const sql = part
      .replaceAll(/'(\w+)'@/g, `'$1_${suffix}'@`)
      .replaceAll(/ ON revenue\./g, ` ON ${database}.`)
      .replaceAll("'…'", `'${password}'`);
    return {
      command: part.match(/^-- (.*)$/m)?.[1] ?? "",
      name: sql.match(/CREATE USER '(\w+)'@/)?.[1] ?? "",
      statements: sql
        .replaceAll(/^--.*$/gm, "")
        .split(";")
        .map((text) => text.trim())
        .filter((text) => text !== ""),
    };
  });

let server: Connection;
/** Runs the SQL from top to bottom, as it is pasted, and migrates as soon as there is an account for it. */
beforeAll(async () => {
  server = await connectTo(inject("databaseServer"));
  await server.query(`CREATE DATABASE ${database}`);
  for (const { command, statements } of accounts) {
    for (const statement of statements) await server.query(statement);
    if (command === "npm run migrate") await runAs(command, command);
  }
});

afterAll(async () => {
  for (const { name } of accounts) await server.query(`DROP USER IF EXISTS '${name}'@'%'`);
  await server.query(`DROP DATABASE IF EXISTS ${database}`);
  await server.end();
});

/** The DATABASE_URL of a command's account. */
function urlFor(command: string): string {
  const account = accounts.find((one) => one.command === command);
  if (account === undefined) throw new Error(`there is no account for ${command}`);
  const url = new URL(inject("databaseServer"));
  return Object.assign(url, { username: account.name, password, pathname: `/${database}` }).href;
}

async function runAs(account: string, command: string): Promise<CommandResult> {
  const outcome = await paste(command, { DATABASE_URL: urlFor(account) });
  expect(outcome).toMatchObject({ code: 0, stderr: "" });
  return outcome;
}

it("the account of the rollup can build, refresh, rebuild and verify, but not change the ledger, nor read keys and wallets", async () => {
  const run = (sql: string) => server.query(sql.replaceAll("$", `${database}.`));
  const charge = `INSERT INTO $charges (provider_id, server_id, charged_at, gross)
    VALUES (1, 1, '2026-01-01', 1)`;
  await run("INSERT INTO $providers (id, name) VALUES (1, 'first')");
  await run(charge);
  const pool = createRollupPool(parseDatabaseUrl(urlFor("npm run rollup")), 3, () => {});
  onTestFinished(() => pool.destroy());
  // InnoDB lists a transaction for a moment after its end, and the watermark waits for it: the list stays as it is
  // until nobody has read it for 0.1 s.
  const untilAdded = (rebuild = false) =>
    until(async () => {
      await server.query("DO SLEEP(0.2)");
      const result = await rollUp(pool, { margin: 0, seesTransactions: true, rebuild });
      return result.charges > 0;
    });
  await untilAdded();
  await run(charge);
  await untilAdded();
  await untilAdded(true);
  expect(await Array.fromAsync(verify(pool, "1"))).toEqual([]);
  for (const statement of [
    charge.replace("$", ""),
    "UPDATE wallets SET available_balance = 0",
    ...["api_keys", "wallets", "payouts"].map((table) => `SELECT * FROM ${table}`),
  ]) {
    const code = "ER_TABLEACCESS_DENIED_ERROR";
    await expect(pool.raw(statement), statement).rejects.toMatchObject({ code });
  }
});

it("npm run rollup -- --check proves the rights of its account before it starts, and names each that is missing", async () => {
  const url = urlFor("npm run rollup");
  const ok = "ok: the account may run every statement of the rollups\n";
  const check = () => runCommand("rollup", ["--check"], url);
  expect(await check()).toEqual({ code: 0, stdout: ok, stderr: "" });
  const { username } = new URL(url);
  for (const [right, statement] of [
    ["INSERT ON rollup_increments", "INSERT on rollup_increments"],
    ["UPDATE ON heartbeat", "WRITE_HEARTBEAT"],
  ] as const) {
    const on = right.replace(" ON ", ` ON ${database}.`);
    await server.query(`REVOKE ${on} FROM '${username}'@'%'`);
    expect(await check().finally(() => server.query(`GRANT ${on} TO '${username}'@'%'`))).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        new RegExp(`^error: the statement ${statement} is refused: .*\\n$`),
      ),
    });
  }
});

it("the account of the rollup can run it until SIGTERM", async () => {
  const rollup = "npm run rollup";
  const watch = commands.find(({ text }) => text.startsWith(`${rollup} -- --watch `));
  const [, flags = ""] = watch?.text.split(" -- ") ?? [];
  const running = startCommand("rollup", flags.split(" "), urlFor(rollup));
  onTestFinished(() => running.signal("SIGKILL"));
  await until(() => running.lines().join().includes("open transactions are"));
  const heartbeat = `SELECT 1 FROM ${database}.heartbeat`;
  await until(async () => (await server.query<RowDataPacket[]>(heartbeat))[0].length > 0);
  running.signal("SIGTERM");
  expect(await running.ended).toMatchObject({ code: 0 });
});

let key: string;
let serviceKey: string;
it("the account of the keys can create a key, list and revoke keys, as docs/data-model.md does", async () => {
  const account = "npm run key";
  const paste = (action: string) => {
    const found = commands.filter(({ text }) => text.startsWith(`${account} -- ${action}`));
    expect(found).toHaveLength(1);
    return runAs(account, found[0]?.text ?? "");
  };
  await server.query(
    `INSERT INTO ${database}.api_keys (id, provider_id, name, key_hash) VALUES (7, 1, 'leaked', ?)`,
    [randomBytes(32)],
  );
  const keyOf = ({ stdout }: { stdout: string }) => stdout.trimEnd().split("\n").at(-1) ?? "";
  [key, serviceKey] = await Promise.all([
    paste("create --provider").then(keyOf),
    paste("create --service").then(keyOf),
    paste("revoke 7"),
  ]);
  const [pattern = "never"] = codeIn(section("docs/data-model.md", "API keys")).filter((code) =>
    code.startsWith("rv[ks]_["),
  );
  for (const made of [key, serviceKey]) expect(made).toMatch(new RegExp(`^${pattern}$`));
  const { stdout } = await paste("list");
  expect(stdout).toMatch(/^7 .*revoked .*leaked$/m);
  expect(stdout).toMatch(/active +billing dashboard$/m);
});

it("the service answers under its own account", async () => {
  const service = await startService(urlFor("npm start"), { SERVICE_KEYS: "all" });
  onTestFinished(async () => void (await service.kill()));
  for (const [name, target] of Object.entries(paths)) {
    const ofProvider = [withKey(key), [...withKey(serviceKey), ["x-provider-id", "1"]]] as const;
    for (const headers of name === "ListProviderRevenue" ? [withKey(serviceKey)] : ofProvider) {
      const { status, text } = await rawHttp(service.http, { target, headers });
      expect({ status, text }).toMatchObject({ status: 200 });
    }
  }
});
