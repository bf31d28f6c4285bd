/** `npm start -- --check`: what the service needs, looked at without listening. */
import type { Knex } from "knex";
import { parseCertificates, readContents } from "../config/certificates.ts";
import { type Config, ConfigError, tlsFiles } from "../config.ts";
import type { Statements } from "../db/contract/rights.ts";
import { staleness } from "../db/freshness.ts";
import { readPageTokenKey } from "../db/page-token-key.ts";
import { checkSchema } from "../db/pending-migrations.ts";
import { shardsOf } from "../db/shards.ts";
import { checkContract, printErrors } from "./contract.ts";
import { formatError } from "./format-error.ts";

/** What a check looks at, besides the configuration. */
interface CheckParts {
  readonly database: Knex;
  /** Looks at a session. */
  readonly checkSession: (warn: (message: string) => void) => Promise<void>;
  /** Those that the service sends. */
  readonly statements: Statements;
  /** Opens another database of the same server: a shard. */
  readonly open: (name: string) => Knex;
}

/**
 * Looks at everything that a valid configuration names, and prints a line for each.
 *
 * @returns whether nothing is wrong
 */
export async function check(
  config: Config,
  { database, checkSession, statements, open }: CheckParts,
): Promise<boolean> {
  const print = (line: string) => console.log(line);
  print("ok: the configuration is valid");
  print(`ok: ${addresses(config)}`);
  const files = tlsFiles(config);
  if (files === undefined) print("ok: TLS is off (TLS_CERT_FILE, TLS_KEY_FILE)");
  else {
    const { names, expiresAt } = parseCertificates(readContents(files));
    print(`ok: the certificate for ${names} expires ${new Date(expiresAt).toISOString()}`);
    const { TLS_CLIENT_CA_FILE: ca } = files;
    print(`ok: gRPC clients ${ca === undefined ? "need no" : "must present a"} certificate`);
  }
  try {
    await checkSession((message) => console.error(`warning: ${message}`));
    const [[session]] = await database.raw("SELECT VERSION() AS version");
    const [[cipher]] = await database.raw("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    const encryption = cipher?.Value ? `encrypted (${cipher.Value})` : "not encrypted";
    print(`ok: the database answers: ${session.version}, ${encryption}`);
    print("ok: a session of it is as the service sets it up");
    const shards = await shardsOf(database);
    let isKept = shards.length > 0 || (await checkSchemaOf(database, statements));
    // What one of them answers says nothing of the others.
    for (const name of shards) {
      print(`shard ${name}:`);
      isKept = (await checkSchemaOf(open(name), statements)) && isKept;
    }
    if (!isKept) return false;
    await readPageTokenKey(database);
    if (config.readMaxLag === 0) return true;
    const stale = await staleness(database, config.readMaxLag);
    if (stale === undefined) print("ok: the data is not too old (DATABASE_READ_MAX_LAG_MS)");
    else console.error(`error: calls would fail: ${stale}`);
    return stale === undefined;
  } catch (error) {
    tell(error);
    return false;
  }
}

/** Whether the migrations have run, and tables, columns and rights are as the statements need them. */
async function checkSchemaOf(database: Knex, statements: Statements): Promise<boolean> {
  if (!(await succeeds(() => checkSchema(database)))) return false;
  console.log("ok: the schema is up to date");
  const isKept = printErrors(await checkContract(database, statements));
  if (isKept) {
    console.log("ok: tables, columns and rights are as the service's statements need them");
  }
  return isKept;
}

/** Whether some work does not reject; why it does is told. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    tell(error);
    return false;
  }
}

function tell(error: unknown): void {
  const reasons = error instanceof ConfigError ? error.mistakes : [formatError(error)];
  for (const reason of reasons) console.error(`error: ${reason}`);
}

/** Where the ports would listen. */
function addresses({ host, httpPort, grpcPort, adminHost = host, adminPort }: Config): string {
  const at = (address: string, port: number) =>
    `${address.includes(":") ? `[${address}]` : address}:${port}`;
  const admin =
    adminPort === undefined
      ? "no metrics and health"
      : `metrics and health on ${at(adminHost, adminPort)}`;
  return `HTTP on ${at(host, httpPort)}, gRPC on ${at(host, grpcPort)}, ${admin}`;
}
