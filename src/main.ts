/**
 * `npm start`: the service. Starts the parts in order, from the database to the ports, and stops
 * them in reverse order on SIGTERM, SIGINT or an uncaught error.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Knex } from "knex";
import type { Logger } from "pino";
import { RevenueService } from "../gen/revenue/v1/revenue_pb.ts";
import { type Authenticate, createAuthentication } from "./auth/authentication.ts";
import { createFailureLimit } from "./auth/failure-limit.ts";
import { cacheKeys } from "./auth/key-cache.ts";
import { createFindKeys } from "./auth/key-lookup.ts";
import { createKeyQueue } from "./auth/key-queue.ts";
import { formatError } from "./cli/format-error.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { pendingMigrations } from "./db/pending-migrations.ts";
import { createPool } from "./db/pool.ts";
import { createRead, type Read } from "./db/query.ts";
import { createGateway } from "./gateway/server.ts";
import { createGrpcServer } from "./grpc/server.ts";
import { collectWhenQuiet } from "./memory.ts";
import { createAddresses } from "./net/address.ts";
import { createConnectionLimit } from "./net/connection-limit.ts";
import { createUnreadLimit } from "./net/unread.ts";
import { createRevenueService } from "./revenue/service.ts";
import { createLagLog } from "./rollup/read/lag-log.ts";
import type { Rpc } from "./rpc/call.ts";
import { MAX_CALL_MS } from "./rpc/deadline.ts";
import { createRpc } from "./rpc/pipeline.ts";
import { createRateLimit } from "./rpc/rate-limit.ts";
import { createTokenBuckets } from "./rpc/token-buckets.ts";
import { errorFields } from "./telemetry/error-fields.ts";
import { createEventLog, type ReportEvent } from "./telemetry/event-log.ts";
import { createLog } from "./telemetry/log.ts";
import { sampleRejections } from "./telemetry/rejection-log.ts";

/** How long calls in flight may take to finish when the service stops, in ms: as long as any call. */
const GRACE = MAX_CALL_MS;
/** Connections to the database for looking up API keys. */
const KEY_CONNECTIONS = 4;
/** How long the pools may then take to close, in ms; they wait for a database that hangs. */
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
  const report = createEventLog(log);
  const openPool = (maxConnections: number) =>
    createPool(config.databaseUrl, {
      readOnly: true,
      // Calls cancel their queries at their deadline; this also ends a query whose KILL failed.
      maxQueryMs: MAX_CALL_MS,
      maxConnections,
      warn: (message) => log.debug({ message }, "pool"),
    });
  const database = openPool(config.poolSize);
  // Keys have connections of their own, so that no query of a provider delays authentication.
  const keyDatabase = openPool(KEY_CONNECTIONS);
  await checkSchema(database);

  const { poolWait } = config;
  const rateLimit = createRateLimit({
    rate: config.rateLimit,
    burst: config.rateLimitBurst,
    store: config.rateLimitStore,
    report,
  });
  const rpc = createRpc({
    service: RevenueService,
    handlers: createRevenueService(createRead(database, { poolWait }), createLagLog(log)),
    authenticate: createAuthenticate(config, createRead(keyDatabase, { poolWait })),
    log,
    limits: { total: config.maxCalls, perProvider: config.maxCallsPerProvider },
    rateLimit,
  });
  const { gateway, grpc } = createPorts(config, rpc, log, report);

  const { host } = config;
  const grpcPort = await listen("GRPC_PORT", config.grpcPort, (port) => grpc.listen(host, port));
  const httpPort = await listen("HTTP_PORT", config.httpPort, (port) => gateway.listen(host, port));
  log.info({ host, httpPort, grpcPort }, "listening");
  collectWhenQuiet();

  let stopping = false;
  const stop = async (reason: object) => {
    if (stopping) return;
    stopping = true;
    log.info(reason, `stopping: calls in flight have ${GRACE / 1000} s to finish`);
    try {
      await Promise.all([gateway.stop(GRACE), grpc.stop(GRACE)]);
      rateLimit?.close();
      const closed = Promise.all([database.destroy(), keyDatabase.destroy()]);
      await Promise.race([closed, sleep(POOL_GRACE)]);
      log.info("stopped");
    } catch (error) {
      process.exitCode = 1;
      log.error(errorFields(error), "stop failed");
    } finally {
      process.exit();
    }
  };
  process.on("SIGTERM", (signal) => stop({ signal }));
  process.on("SIGINT", (signal) => stop({ signal }));
  // The state of the process is unknown after an uncaught error, so the process is replaced.
  process.on("uncaughtException", (error, origin) => {
    process.exitCode = 1;
    log.fatal(errorFields(error), "uncaught error");
    stop({ reason: origin });
  });
}

/** Creates the servers of both ports, which share the limits on connections and unread bytes. */
function createPorts(config: Config, rpc: Rpc, log: Logger, report: ReportEvent) {
  const addresses = createAddresses(config.trustedProxies);
  const acceptConnection = createConnectionLimit({ ...config, addresses, report });
  const unread = createUnreadLimit({ ...config, report });
  const gateway = createGateway({
    service: RevenueService,
    rpc,
    addresses,
    log: sampleRejections(log),
    settings: config,
    acceptConnection,
    unread,
    report,
  });
  const options = { ...config, admitConnection: acceptConnection, report };
  const grpc = createGrpcServer(RevenueService, rpc, addresses, options);
  unread.register(grpc.unread);
  return { gateway, grpc };
}

function createAuthenticate(config: Config, read: Read): Authenticate {
  const keyQueue = (owner: string) =>
    createKeyQueue(createFindKeys(read, owner), config.maxKeyLookups);
  const keys = cacheKeys({ known: keyQueue("known"), unknown: keyQueue("unknown") });
  const { failedAuthRate: rate, failedAuthBurst: burst } = config;
  const failures = rate === 0 ? undefined : createTokenBuckets({ rate, burst });
  return createAuthentication(keys, createFailureLimit(failures));
}

/** @throws Error that names the variable and its port if the port cannot be listened on */
async function listen(
  variable: string,
  port: number,
  bind: (port: number) => Promise<number>,
): Promise<number> {
  try {
    return await bind(port);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = reason.includes("EADDRINUSE")
      ? "is in use by another process (EADDRINUSE)"
      : `cannot be listened on (${reason})`;
    throw new Error(`${variable} ${port} ${problem}`, { cause });
  }
}

/** @throws Error with the first missing migration and what to do, if the schema is behind */
async function checkSchema(database: Knex): Promise<void> {
  const [next, ...others] = await pendingMigrations(database);
  if (next === undefined) return;
  const behind = others.length === 0 ? "1 migration" : `${others.length + 1} migrations`;
  throw new Error(
    `the database schema is ${behind} behind (next: ${next}): run \`npm run migrate\``,
  );
}
