/** A stage on a database server of its own, which a test may kill, suspend and restart. */
import type { Knex } from "knex";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../dev/private-database/private-database.ts";
import { issueKey } from "../../src/access/registry.ts";
import { connect } from "../../src/database/connection.ts";
import { migrateToLatest } from "../../src/database/migrate.ts";
import { parseDatabaseUrl } from "../../src/settings.ts";
import { type Doors, openDoors } from "./doors.ts";
import { smallLedger } from "./ledger.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

export interface PrivateStage {
  readonly server: PrivateDatabase;
  readonly service: ServiceProcess;
  readonly doors: Doors;
  /** A valid key of provider 1. */
  readonly key: string;
  /** Ends the service and the server. */
  strike(): Promise<void>;
}

/** Sets the stage with the small ledger. */
export async function setPrivateStage(): Promise<PrivateStage> {
  const server = await startPrivateDatabase({ bufferPool: "64M" });
  const knex: Knex = connect(parseDatabaseUrl(server.url));
  await migrateToLatest(knex);
  await smallLedger({ knex });
  const { key } = await issueKey(knex, "1", "test", null);
  await knex.destroy();
  const service = await startService(server.url);
  const doors = openDoors(service);
  return {
    server,
    service,
    doors,
    key,
    async strike() {
      doors.close();
      await service.stop();
      await server.stop();
    },
  };
}
