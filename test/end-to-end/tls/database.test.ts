/** TLS to the database with a private CA, by `ssl-mode` and `NODE_EXTRA_CA_CERTS`, and its refusals. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { findServerBinary } from "../../../dev/private-database/server-binary.ts";
import { formatError } from "../../../src/cli/format-error.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { testPool } from "../../support/database.ts";
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
beforeAll(async () => {
  files = createFiles(await authority.issue({ withoutAddress: true }), authority.cert);
  ca = join(files.folder, "ca.crt");
  const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = files.files;
  server = await startPrivateDatabase({
    bufferPool: "64M",
    serverOptions: [`--ssl-cert=${cert}`, `--ssl-key=${key}`, `--ssl-ca=${ca}`],
  });
  const knex = testPool(server.url);
  await migrateToLatest(knex);
  await knex.raw("CREATE USER 'secure'@'%' IDENTIFIED BY 'hunter2' REQUIRE SSL");
  await knex.raw("GRANT SELECT ON revenue.* TO 'secure'@'%'");
  await knex.destroy();
});
afterAll(async () => {
  await server?.stop();
  files?.[Symbol.dispose]();
});

const urlOf = (host: string, mode: string, port = new URL(server.url).port) =>
  `mysql://secure:hunter2@${host}:${port}/revenue${mode && `?ssl-mode=${mode}`}`;

/** The cipher of a connection from a process without the CA, or the error that a command prints. */
async function cipherOf(url: string): Promise<string> {
  const pool = testPool(url);
  onTestFinished(() => pool.destroy());
  const query = pool.raw("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
  return query.then(([[row]]) => row.Value, formatError);
}

/** What `npm start -- --check` says about the database if it has the CA. */
async function check(url: string): Promise<string> {
  const environment = { DATABASE_URL: url, NODE_EXTRA_CA_CERTS: ca };
  const { ending, stdout, stderr } = await runService(environment, ["--check"]);
  expect(stdout + stderr).not.toContain("hunter2");
  expect(ending).toBe(stderr === "" ? 0 : 1);
  return stderr || (stdout.split("\n").find((line) => line.includes("database")) ?? "");
}

const UNTRUSTED = /TLS with the database in DATABASE_URL failed: .*\(HANDSHAKE_SSL_ERROR\)$/m;
const ENCRYPTED = /, encrypted \(\w+[\w-]*\)$/;

it.each([
  ["an account that requires TLS refuses a connection without it", "", /rejected the account/],
  ["REQUIRED accepts any certificate", "REQUIRED", /^[\w-]+$/],
  ["VERIFY_CA refuses an unknown CA, also where Node accepts any", "VERIFY_CA", UNTRUSTED],
])("%s", async (_, mode, expected) => {
  if (mode === "VERIFY_CA") vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await cipherOf(urlOf("127.0.0.1", mode))).toMatch(expected);
});

it("VERIFY_IDENTITY accepts the host that is in the certificate, and no other", async () => {
  expect(await check(urlOf("localhost", "VERIFY_IDENTITY"))).toMatch(ENCRYPTED);
  files.write(await authority.issue({ host: "database.example", withoutAddress: true }));
  const isMysql = findServerBinary(() => {}).engine === "MySQL";
  const knex = testPool(server.url);
  await knex.raw(isMysql ? "ALTER INSTANCE RELOAD TLS" : "FLUSH SSL");
  await knex.destroy();
  expect(await check(urlOf("localhost", "VERIFY_IDENTITY"))).toMatch(UNTRUSTED);
});

/** A proxy that takes TLS out of the server's greeting, as somebody on the path may. */
async function startDowngrade(): Promise<string> {
  const proxy = createServer((client) => {
    const upstream = connect(Number(new URL(server.url).port), "127.0.0.1");
    upstream.once("data", (greeting: Buffer) => {
      // Behind the version: the thread's id, 8 bytes and a filler, then the lower capabilities.
      const capabilities = greeting.indexOf(0, 5) + 1 + 4 + 8 + 1;
      greeting.writeUInt16LE(greeting.readUInt16LE(capabilities) & ~0x0800, capabilities);
      client.write(greeting);
      upstream.pipe(client);
    });
    client.pipe(upstream);
    for (const socket of [client, upstream]) socket.on("error", () => {});
  });
  onTestFinished(() => void proxy.close());
  await once(proxy.listen(0, "127.0.0.1"), "listening");
  return `${(proxy.address() as AddressInfo).port}`;
}

it("a server that offers no TLS is refused, not used without encryption", async () => {
  const port = await startDowngrade();
  expect(await cipherOf(urlOf("127.0.0.1", "REQUIRED", port))).toMatch(
    /^TLS with the database in DATABASE_URL failed: Server does not support secure connection/,
  );
});
