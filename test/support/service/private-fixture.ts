/** A fixture with a database server of its own, which a test may kill, suspend and restart. */
import type { Knex } from "knex";
import {
  type PrivateDatabase,
  startPrivateDatabase,
} from "../../../dev/private-database/private-database.ts";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { parseDatabaseUrl } from "../../../src/config.ts";
import { migrateToLatest } from "../../../src/db/migrate.ts";
import { createPool } from "../../../src/db/pool.ts";
import { type Clients, openClients } from "../clients/clients.ts";
import { smallLedger } from "../small-ledger.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** A service on a private database server, and its clients. */
export interface PrivateFixture {
  readonly server: PrivateDatabase;
  /** A connection to the server. */
  readonly knex: Knex;
  readonly service: ServiceProcess;
  readonly clients: Clients;
  /** A valid key of provider 1. */
  readonly key: string;
  /** Ends the service and the server. */
  dispose(): Promise<void>;
}

/** Creates the fixture with the small ledger. `environment` is added to the service's. */
export async function createPrivateFixture(
  environment: Readonly<Record<string, string>> = {},
): Promise<PrivateFixture> {
  const server = await startPrivateDatabase({ bufferPool: "64M" });
  const knex = createPool(parseDatabaseUrl(server.url), { maxConnections: 1 });
  await migrateToLatest(knex);
  await smallLedger({ knex });
  const { key } = await issueKey(knex, "1", "test", null);
  const service = await startService(server.url, environment);
  const clients = openClients(service);
  return {
    server,
    knex,
    service,
    clients,
    key,
    async dispose() {
      clients.close();
      await knex.destroy();
      await service.kill();
      await server.stop();
    },
  };
}
