/** `npm start -- --check`: what the service needs, looked at without listening. */
import type { Knex } from "knex";
import { parseCertificates, readContents } from "../config/certificates.ts";
import { type Config, ConfigError, tlsFiles } from "../config.ts";
import { staleness } from "../db/freshness.ts";
import { formatError } from "./format-error.ts";

/**
 * Looks at everything that a valid configuration names, and prints a line for each.
 *
 * @param checkDatabase looks at session and schema
 * @returns whether nothing is wrong
 */
export async function check(
  config: Config,
  database: Knex,
  checkDatabase: (warn: (message: string) => void) => Promise<void>,
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
    await checkDatabase((message) => console.error(`warning: ${message}`));
    const [[session]] = await database.raw("SELECT VERSION() AS version");
    const [[cipher]] = await database.raw("SHOW SESSION STATUS LIKE 'Ssl_cipher'");
    const encryption = cipher?.Value ? `encrypted (${cipher.Value})` : "not encrypted";
    print(`ok: the database answers: ${session.version}, ${encryption}`);
    print("ok: a session of it is as the service sets it up");
    print("ok: the schema is up to date");
    if (config.readMaxLag === 0) return true;
    const stale = await staleness(database, config.readMaxLag);
    if (stale === undefined) print("ok: the data is not too old (DATABASE_READ_MAX_LAG_MS)");
    else console.error(`error: calls would fail: ${stale}`);
    return stale === undefined;
  } catch (error) {
    const reasons = error instanceof ConfigError ? error.mistakes : [formatError(error)];
    for (const reason of reasons) console.error(`error: ${reason}`);
    return false;
  }
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
