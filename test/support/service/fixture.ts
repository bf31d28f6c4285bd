/** The fixture of an end-to-end test: a database with data, a service that uses it, and clients. */
import { issueKey, issueServiceKey } from "../../../src/auth/key-registry.ts";
import { openClients } from "../clients/clients.ts";
import { createDatabase, type TestDatabase } from "../database.ts";
import { startService } from "./service-process.ts";

/** What a test needs to call the service: `createFixture`. */
export type Fixture = Awaited<ReturnType<typeof createFixture>>;

/**
 * Creates the fixture.
 *
 * @param fill inserts the data, which must include a provider 1
 * @param environment variables of the service
 */
export async function createFixture(
  fill: (database: TestDatabase) => Promise<unknown>,
  environment: Readonly<Record<string, string>> = {},
) {
  const database = await createDatabase();
  await fill(database);
  const issue = async (providerId: string, expiresAt: number | null = null): Promise<string> =>
    (await issueKey(database.knex, providerId, "test", expiresAt)).key;
  const key = await issue("1");
  const service = await startService(database.url, environment);
  const clients = openClients(service);
  return {
    database,
    service,
    clients,
    /** A valid key of provider 1. */
    key,
    /** Issues another key. `expiresAt` is in epoch milliseconds; by default the key does not expire. */
    issueKey: issue,
    /** Issues a service key. */
    issueServiceKey: async (name: string) => (await issueServiceKey(database.knex, name, null)).key,
    /** How many calls the service has in flight, by its metrics. */
    async activeCalls() {
      const text = await (await fetch(`${service.admin}/metrics`)).text();
      return Number(/^rpc_server_active_calls (\d+)$/m.exec(text)?.[1]);
    },
    /** Ends the service and drops the database. */
    async dispose() {
      clients.close();
      await service.kill();
      await database.drop();
    },
  };
}
