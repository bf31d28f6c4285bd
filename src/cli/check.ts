/** `npm start -- --check`: what the service needs, looked at without listening. */
import type { Knex } from "knex";
import type { Config } from "../config.ts";
import type { Statements } from "../db/contract/rights.ts";
import { staleness } from "../db/freshness.ts";
import { readPageTokenKey } from "../db/page-token-key.ts";
import { checkSchema } from "../db/pending-migrations.ts";
import { shardsOf } from "../db/shards.ts";
import { checkContract, printErrors } from "./contract.ts";
import { reasonsOf } from "./format-error.ts";

/** What a check looks at, besides the configuration. */
interface CheckParts {
  readonly database: Knex;
  /** Looks at a session. */
  readonly checkSession: () => Promise<void>;
  /** Those that the service sends. */
  readonly statements: Statements;
  /** Opens another database of the same server: a shard. */
  readonly open: (name: string) => Knex;
}

/**
 * Looks at the database that a valid configuration names, and prints a line for each thing.
 *
 * @returns whether nothing is wrong
 */
export async function check(
  { readMaxLag }: Config,
  { database, checkSession, statements, open }: CheckParts,
): Promise<boolean> {
  const print = (line: string) => console.log(line);
  print("ok: the configuration is valid, and the files that it names");
  try {
    await checkSession();
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
    if (readMaxLag === 0) return true;
    const stale = await staleness(database, readMaxLag);
    if (stale === undefined) print("ok: the data is not too old (DATABASE_READ_MAX_LAG_MS)");
    else console.error(`error: calls would fail: ${stale}`);
    return stale === undefined;
  } catch (error) {
    return printErrors(reasonsOf(error));
  }
}

/** Whether the migrations have run, and tables, columns and rights are as the statements need them. */
async function checkSchemaOf(database: Knex, statements: Statements): Promise<boolean> {
  try {
    await checkSchema(database);
  } catch (error) {
    return printErrors(reasonsOf(error));
  }
  console.log("ok: the schema is up to date");
  const isKept = printErrors(await checkContract(database, statements));
  if (isKept) {
    console.log("ok: tables, columns and rights are as the service's statements need them");
  }
  return isKept;
}
