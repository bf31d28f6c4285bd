/** A fixture for tests from outside: a database with data, the service on it, and its clients. */
import { issueKey } from "../../../src/auth/key-registry.ts";
import { type Clients, openClients } from "../clients/clients.ts";
import { createDatabase, type TestDatabase } from "../database.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

export interface Fixture {
  readonly database: TestDatabase;
  readonly service: ServiceProcess;
  readonly clients: Clients;
  /** A valid key of provider 1. */
  readonly key: string;
  /** Issues another key. `expiresAt` in epoch milliseconds. */
  issue(providerId: string, expiresAt?: number): Promise<string>;
  /** Ends the service and drops the database. */
  dispose(): Promise<void>;
}

/** Sets the fixture. @param fill puts the data in, with a provider 1 at least */
export async function createFixture(
  fill: (database: TestDatabase) => Promise<unknown>,
): Promise<Fixture> {
  const database = await createDatabase();
  await fill(database);
  const issue = async (providerId: string, expiresAt: number | null = null): Promise<string> =>
    (await issueKey(database.knex, providerId, "test", expiresAt)).key;
  const key = await issue("1");
  const service = await startService(database.url);
  const clients = openClients(service);
  return {
    database,
    service,
    clients,
    key,
    issue,
    async dispose() {
      clients.close();
      await service.stop();
      await database.drop();
    },
  };
}
