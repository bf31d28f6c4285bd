/**
 * `npm start`: the service. Starts the parts from the database up to the doors, and stops
 * them in the opposite order at SIGTERM or SIGINT.
 */
import type { AddressInfo } from "node:net";
import type { Knex } from "knex";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";
import { createAuthentication } from "./auth/authentication.ts";
import { cacheKeys } from "./auth/key-cache.ts";
import { createKeyLookup } from "./auth/key-lookup.ts";
import { formatError } from "./cli/format-error.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { pendingMigrations } from "./db/migrate.ts";
import { createPool } from "./db/pool.ts";
import { createRead } from "./db/query.ts";
import { createGateway } from "./gateway/server.ts";
import { stop as stopGateway } from "./gateway/shutdown.ts";
import { createGrpcServer } from "./grpc/server.ts";
import { createRevenueService } from "./revenue/service.ts";
import { createLagLog } from "./rollup/read/lag-log.ts";
import { LONGEST_CALL } from "./rpc/deadline.ts";
import { createRpc } from "./rpc/pipeline.ts";
import { createLog } from "./telemetry/log.ts";

/** How long calls under way may take to finish when the service stops, in ms. */
const GRACE = 10_000;
/** How long the pool may take to close after them: a database that hangs never says goodbye. */
const POOL_GRACE = 1_000;

try {
  await start(readConfig(process.env));
} catch (error) {
  const reasons = error instanceof ConfigError ? error.mistakes : [formatError(error)];
  for (const reason of reasons) console.error(`cannot start: ${reason}`);
  process.exit(1);
}

async function start(config: Config): Promise<void> {
  const log = createLog(config.logLevel);
  const database = createPool(config.databaseUrl, {
    readOnly: true,
    // A call's deadline passes earlier; this is for a query that nobody is left to kill.
    longestQuery: LONGEST_CALL,
    warn: (message) => log.debug({ message }, "pool"),
  });
  await checkSchema(database);

  const read = createRead(database);
  const rpc = createRpc({
    service: RevenueService,
    functions: createRevenueService(read, createLagLog(log)),
    authenticate: createAuthentication(cacheKeys(createKeyLookup(read))),
    log,
  });
  const gateway = createGateway({ service: RevenueService, rpc, log });
  const grpc = createGrpcServer(RevenueService, rpc);

  const { host } = config;
  const grpcPort = await listening("GRPC_PORT", config.grpcPort, (port) => grpc.listen(host, port));
  await listening("HTTP_PORT", config.httpPort, (port) => gateway.listen({ host, port }));
  const { port: httpPort } = gateway.server.address() as AddressInfo;
  log.info({ host, httpPort, grpcPort }, "listening");

  const stop = once(async (exitCode: number, reason: object) => {
    log.info(reason, "stopping: no new calls; those under way have 10 s");
    try {
      await Promise.all([stopGateway(gateway, GRACE), grpc.stop(GRACE)]);
      await Promise.race([database.destroy(), sleep(POOL_GRACE)]);
      log.info("stopped");
    } finally {
      process.exit(exitCode);
    }
  });
  process.on("SIGTERM", (signal) => stop(0, { signal }));
  process.on("SIGINT", (signal) => stop(0, { signal }));
  // After an error that nobody caught the state of the process is unknown: it says so, finishes
  // what is under way, and ends.
  process.on("uncaughtException", (error) => {
    log.fatal({ type: error.name, message: error.message, stack: error.stack }, "uncaught");
    stop(1, {});
  });
}

/** @throws Error that names the variable whose port cannot be listened on */
async function listening<T>(
  variable: string,
  port: number,
  listen: (port: number) => Promise<T>,
): Promise<T> {
  try {
    return await listen(port);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const taken = reason.includes("EADDRINUSE")
      ? "is taken by another process (EADDRINUSE)"
      : `cannot be listened on (${reason})`;
    throw new Error(`${variable} ${port} ${taken}`, { cause });
  }
}

/** @throws Error that says what to do where the database lacks a migration */
async function checkSchema(database: Knex): Promise<void> {
  const pending = await pendingMigrations(database);
  if (pending.length > 0) {
    throw new Error(
      `the database's schema is behind by ${pending.length} ${pending.length === 1 ? "migration" : "migrations"} (${pending[0]} is the first): run \`npm run migrate\``,
    );
  }
}

function once<A extends unknown[]>(action: (...parameters: A) => void): (...parameters: A) => void {
  let done = false;
  return (...parameters) => {
    if (done) return;
    done = true;
    action(...parameters);
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
