/** A stage for tests from outside: a database with data, the service on it, and its doors. */
import { issueKey } from "../../src/access/registry.ts";
import { createDatabase, type TestDatabase } from "../setup/database.ts";
import { type Doors, openDoors } from "./doors.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

export interface Stage {
  readonly database: TestDatabase;
  readonly service: ServiceProcess;
  readonly doors: Doors;
  /** A valid key of provider 1. */
  readonly key: string;
  /** Issues another key. `expiresAt` in epoch milliseconds. */
  issue(providerId: string, expiresAt?: number): Promise<string>;
  /** Ends the service and drops the database. */
  strike(): Promise<void>;
}

/** Sets the stage. @param fill puts the data in, with a provider 1 at least */
export async function setStage(fill: (database: TestDatabase) => Promise<unknown>): Promise<Stage> {
  const database = await createDatabase();
  await fill(database);
  const issue = async (providerId: string, expiresAt: number | null = null): Promise<string> =>
    (await issueKey(database.knex, providerId, "test", expiresAt)).key;
  const key = await issue("1");
  const service = await startService(database.url);
  const doors = openDoors(service);
  return {
    database,
    service,
    doors,
    key,
    issue,
    async strike() {
      doors.close();
      await service.stop();
      await database.drop();
    },
  };
}
