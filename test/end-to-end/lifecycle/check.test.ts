/** `npm start -- --check`: prints what it found, and listens on nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { runService } from "../../support/service/service-process.ts";
import { createAuthority, createFiles } from "../../support/tls/certificates.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

const check = (environment: Record<string, string>) => runService(environment, ["--check"]);

it("a valid environment, read from a file of the database's URL: exit code 0", async () => {
  const authority = await createAuthority();
  using files = createFiles(await authority.issue(), authority.cert);
  const urlFile = join(files.folder, "url");
  writeFileSync(urlFile, `${database.url}\n`);
  const { ending, stdout, stderr } = await check({
    ...{ DATABASE_URL_FILE: urlFile, ADMIN_HOST: "::1", ADMIN_PORT: "9464" },
    ...files.files,
  });
  expect({ ending, stderr }).toEqual({ ending: 0, stderr: "" });
  expect(stdout.split("\n")).toEqual([
    "ok: the configuration is valid",
    "ok: HTTP on 127.0.0.1:0, gRPC on 127.0.0.1:0, metrics and health on [::1]:9464",
    expect.stringMatching(
      /^ok: the certificate for DNS:localhost, IP Address:127\.0\.0\.1 expires \d{4}-[\d-]+T[\d:.]+Z$/,
    ),
    "ok: gRPC clients must present a certificate",
    expect.stringMatching(/^ok: the database answers: \d+\.\d+.*, not encrypted$/),
    "ok: the schema is up to date",
    "",
  ]);
});

it("a schema that is behind: exit code 1", async () => {
  const [last] = await database.knex("knex_migrations").orderBy("id", "desc").limit(1);
  await database.knex("knex_migrations").where({ id: last.id }).del();
  const { ending, stdout, stderr } = await check({ DATABASE_URL: database.url });
  await database.knex("knex_migrations").insert(last);
  expect(ending).toBe(1);
  expect(stdout).toContain("ok: TLS is off");
  expect(stderr).toBe(
    `error: the database schema is 1 migration behind (next: ${last.name}): run \`npm run migrate\`\n`,
  );
});

it("a database that cannot be reached: exit code 1, without its password", async () => {
  const { ending, stderr } = await check({ DATABASE_URL: "mysql://u:hunter2@127.0.0.1:1/d" });
  expect(ending).toBe(1);
  expect(stderr).toMatch(
    /^error: cannot reach the database in DATABASE_URL: .*\(ECONNREFUSED\)\n$/,
  );
  expect(stderr).not.toContain("hunter2");
});

it("mistakes in the environment are told as at a start", async () => {
  const { ending, stderr } = await check({ DATABASE_URL: database.url, HTTP_PORT: "http" });
  expect(ending).toBe(1);
  expect(stderr).toMatch(/^cannot start: HTTP_PORT is "http"/);
});

it("an unknown option is refused", async () => {
  const { ending, stderr } = await runService({ DATABASE_URL: database.url }, ["--chek"]);
  expect(ending).toBe(1);
  expect(stderr).toMatch(/^cannot start: Unknown option '--chek'/);
});
