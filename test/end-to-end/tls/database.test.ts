/** TLS to the database with a private CA, by `ssl-mode` and `NODE_EXTRA_CA_CERTS`, and its refusals. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { findServerBinary } from "../../../dev/private-database/server-binary.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { createPool } from "../../../src/db/pool.ts";
import { runService } from "../../support/service/service-process.ts";
import {
  type CertificateFiles,
  createAuthority,
  createFiles,
} from "../../support/tls/certificates.ts";

let server: PrivateDatabase;
let files: CertificateFiles;
let ca: string;
const authority = await createAuthority();
const isMysql = () => findServerBinary(() => {}).engine === "MySQL";
beforeAll(async () => {
  files = createFiles(await authority.issue({ withoutAddress: true }), authority.cert);
  ca = join(files.folder, "ca.crt");
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = files.files;
  server = await startPrivateDatabase({
    bufferPool: "64M",
    serverOptions: [`--ssl-cert=${cert}`, `--ssl-key=${key}`, `--ssl-ca=${ca}`],
  });
  const knex = createPool(parseDatabaseUrl(server.url));
  await migrateToLatest(knex);
  await knex.raw("CREATE USER 'secure'@'%' IDENTIFIED BY 'hunter2' REQUIRE SSL");
  await knex.raw("GRANT SELECT ON revenue.* TO 'secure'@'%'");
  await knex.destroy();
});
afterAll(async () => {
  await server?.stop();
  files?.[Symbol.dispose]();
});

/** What `npm start -- --check` says about the database. */
async function check(host: string, mode: string, isTrusted: boolean): Promise<string> {
  const { port } = new URL(server.url);
  const { ending, stdout, stderr } = await runService(
    {
      DATABASE_URL: `mysql://secure:hunter2@${host}:${port}/revenue${mode && `?ssl-mode=${mode}`}`,
      ...(isTrusted && { NODE_EXTRA_CA_CERTS: ca }),
    },
    ["--check"],
  );
  expect(stdout + stderr).not.toContain("hunter2");
  expect(ending).toBe(stderr === "" ? 0 : 1);
  return stderr || (stdout.split("\n").find((line) => line.includes("database")) ?? "");
}

const ENCRYPTED = /, encrypted \(\w+[\w-]*\)$/;
const UNTRUSTED =
  /^error: TLS with the database in DATABASE_URL failed: .*\(HANDSHAKE_SSL_ERROR\)\n$/;

describe.concurrent("TLS to the database:", () => {
  it.each<[string, string, string, boolean, RegExp]>([
    [
      "an account that requires TLS refuses a connection without it",
      "localhost",
      "",
      true,
      /^error: the database in DATABASE_URL rejected the account: /,
    ],
    ["REQUIRED accepts any certificate", "127.0.0.1", "REQUIRED", false, ENCRYPTED],
    ["VERIFY_CA refuses an unknown CA", "127.0.0.1", "VERIFY_CA", false, UNTRUSTED],
    ["VERIFY_IDENTITY accepts the host", "localhost", "VERIFY_IDENTITY", true, ENCRYPTED],
  ])("%s", async (_, host, mode, isTrusted, expected) => {
    expect(await check(host, mode, isTrusted)).toMatch(expected);
  });
});

it("VERIFY_IDENTITY refuses a certificate for another host, and VERIFY_CA accepts it", async () => {
  files.write(await authority.issue({ host: "database.example", withoutAddress: true }));
  const knex = createPool(parseDatabaseUrl(server.url));
  await knex.raw(isMysql() ? "ALTER INSTANCE RELOAD TLS" : "FLUSH SSL");
  await knex.destroy();
  expect(await check("localhost", "VERIFY_IDENTITY", true)).toMatch(UNTRUSTED);
  expect(await check("localhost", "VERIFY_CA", true)).toMatch(ENCRYPTED);
});

it("a server without TLS is refused, not used without encryption", async () => {
  const plain = await startPrivateDatabase({
    bufferPool: "64M",
    serverOptions: isMysql() ? ["--tls-version="] : ["--skip-ssl"],
  });
  const { ending, stderr } = await runService({ DATABASE_URL: `${plain.url}?ssl-mode=REQUIRED` }, [
    "--check",
  ]);
  await plain.stop();
  expect(ending).toBe(1);
  expect(stderr).toMatch(/^error: the database in DATABASE_URL does not offer TLS/);
});
