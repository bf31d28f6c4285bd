/** The service needs no privilege but SELECT on its database. */
import { randomBytes } from "node:crypto";
import { createConnection } from "mysql2/promise";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { type Clients, FAST_CLIENTS, openClients } from "../../support/clients/clients.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { withKey } from "../../support/request.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const account = `service_${randomBytes(6).toString("hex")}`;
const password = randomBytes(18).toString("base64url");

let database: TestDatabase;
let url: string;
let service: ServiceProcess;
let clients: Clients;
let key: string;

beforeAll(async () => {
  database = await createDatabase();
  await smallLedger(database);
  key = (await issueKey(database.knex, "1", "test", null)).key;
  await database.knex.raw(`CREATE USER ${account} IDENTIFIED BY '${password}'`);
  await database.knex.raw(`GRANT SELECT ON ${database.name}.* TO ${account}`);
  url = Object.assign(new URL(database.url), { username: account, password }).href;
  service = await startService(url);
  clients = openClients(service);
});
afterAll(async () => {
  clients?.close();
  await service?.stop();
  await database?.knex.raw(`DROP USER IF EXISTS ${account}`);
  await database?.drop();
});

describe.each(FAST_CLIENTS)("through %s", (name) => {
  it.each(["GetOverview", "GetServerBreakdown"] as const)("%s is answered", async (method) => {
    const outcome = await clients.get(name).call({ method, headers: withKey(key) });
    expect(outcome).toHaveProperty("response");
  });
});

it.each([
  "INSERT INTO providers (id, name) VALUES (9, 'x')",
  "UPDATE wallets SET available_balance = 0",
  "DELETE FROM api_keys",
  "DROP TABLE payouts",
  "CREATE TABLE other (id INT)",
])("the service's account may not execute %s", async (statement) => {
  const connection = await createConnection(url);
  try {
    await expect(connection.query(statement)).rejects.toMatchObject({
      code: "ER_TABLEACCESS_DENIED_ERROR",
    });
  } finally {
    await connection.end();
  }
});
