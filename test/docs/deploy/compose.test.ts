/** The compose file: hardened, and with the secrets that its scripts make. Compose itself refuses what its schema does not know. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { connectTo, createDatabase } from "../../support/database.ts";
import { ROOT } from "../markdown.ts";
import { compose } from "./files.ts";

const services = Object.entries(compose.services);

it.each(services)(
  "%s is of one version, unprivileged, and reached from this machine only",
  (_, service) => {
    expect(service).toMatchObject({
      image: expect.stringMatching(/:(local|v?\d+\.\d+\.\d+)$/),
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      // A bounded number of log lines.
      logging: { options: { "max-size": expect.any(String), "max-file": expect.any(String) } },
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  },
);

it("the scripts make each secret once, for its owner alone, and the accounts that the URLs name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "revenue-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const run = (name: string, env: object, ...args: string[]) => {
    const script = join(ROOT, "deploy/compose", name);
    const result = spawnSync(script, args, { encoding: "utf8", env: { ...process.env, ...env } });
    expect(result).toMatchObject({ status: 0, stderr: "" });
    return result.stdout;
  };
  const contents = () =>
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  run("create-secrets.sh", {}, folder);
  const made = contents();
  const wanted = Object.values(compose.secrets).map(({ file }) => file.replace("secrets/", ""));
  expect(made.map(([name]) => name).sort()).toEqual(wanted.sort());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  run("create-secrets.sh", {}, folder);
  expect(contents()).toEqual(made);

  // In place of the image's client, which would be root: one that prints the statements.
  const client = `mariadb() { [ "$1" = --user=root ] && [ -n "$MYSQL_PWD" ] && cat; }; . "$0"`;
  const script = join(ROOT, "deploy/compose/create-accounts.sh");
  const env = { ...process.env, SECRETS_FOLDER: folder };
  const printed = spawnSync("/bin/sh", ["-c", client, script], { encoding: "utf8", env });
  expect(printed).toMatchObject({ status: 0, stderr: "" });
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  // The server is not this test's alone.
  const prefix = `test_${randomBytes(4).toString("hex")}`;
  const own = (text: string) =>
    text.replaceAll("revenue_", `${prefix}_`).replaceAll("`revenue`", database.name);
  const accounts = own(printed.stdout).match(/(?<=CREATE USER )'\w+'@'%'/g) ?? [];
  expect(accounts).toHaveLength(3);
  onTestFinished(async () => {
    for (const account of accounts) await database.knex.raw(`DROP USER IF EXISTS ${account}`);
  });
  for (const statement of own(printed.stdout).split(";\n").slice(0, -1)) {
    await database.knex.raw(statement);
  }
  for (const account of ["migrate", "service", "rollup"]) {
    const url = new URL(own(readFileSync(join(folder, `${account}_database_url`), "utf8").trim()));
    url.host = new URL(database.url).host;
    url.pathname = database.name;
    const connection = await connectTo(url.href);
    await connection.query("SELECT COUNT(*) FROM charges").finally(() => connection.end());
  }
});
