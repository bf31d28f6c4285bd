/** `npm start`: the service. Starts the parts in order, from the database to the ports. */
import type { Knex } from "knex";
import { startDatabaseProbe } from "./admin/database-probe.ts";
import { createReadiness } from "./admin/readiness.ts";
import { createAdminServer } from "./admin/server.ts";
import {
  type Authenticate,
  createAuthentication,
  FAILURES_PER_ADDRESS,
} from "./auth/authentication.ts";
import { cacheKeys } from "./auth/key-cache.ts";
import { createFindKeys } from "./auth/key-lookup.ts";
import { createKeyQueue } from "./auth/key-queue.ts";
import { createFindProvider } from "./auth/provider.ts";
import { check } from "./cli/check.ts";
import { ignoreClosedOutput } from "./cli/closed-output.ts";
import { createCommand } from "./cli/command.ts";
import { reasonsOf } from "./cli/format-error.ts";
import { misspelled } from "./config/misspellings.ts";
import { type Config, ConfigError, readConfig, tlsFiles } from "./config.ts";
import {
  checkDatabase,
  checkSessionOf,
  KEY_CONNECTIONS,
  openPool,
  sessionOptions,
  statementsOf,
} from "./database.ts";
import { limitAge } from "./db/freshness.ts";
import { readPageTokenKey } from "./db/page-token-key.ts";
import { poolState } from "./db/pool.ts";
import { createRead, type Read } from "./db/query.ts";
import { followDatabaseUrl } from "./db/url-watch.ts";
import { listen, listenAddress } from "./net/listen.ts";
import { createPorts } from "./ports.ts";
import { createRevenueService } from "./revenue/service.ts";
import { createDamageLog } from "./rollup/read/damage.ts";
import { createLagLog } from "./rollup/read/lag-log.ts";
import { createTurns } from "./rpc/large-results.ts";
import { createRpc } from "./rpc/pipeline.ts";
import { createRateLimit } from "./rpc/rate-limit.ts";
import { createTokenBuckets } from "./rpc/token-buckets.ts";
import { isForPlatform, METHODS } from "./services.ts";
import { stopOnSignals } from "./stop.ts";
import { createEventLog } from "./telemetry/event-log.ts";
import { createLog } from "./telemetry/log.ts";
import { createLogOutput } from "./telemetry/log-output.ts";
import { createMetrics } from "./telemetry/metrics/metrics.ts";
import { createReadObserver } from "./telemetry/read-observer.ts";
import { openStdout } from "./telemetry/stdout.ts";
import { startTracing } from "./telemetry/traces/sdk.ts";
import { isTracingOn } from "./telemetry/traces/settings.ts";
import { versions } from "./telemetry/versions.ts";
import { watchCertificates } from "./tls/certificate-watch.ts";

/**
 * What SIGTERM does, from the first moment on: process 1 of a container ignores signals without a
 * listener. The listener stays, because a signal is lost that comes between one and the next.
 */
let stopOnSigterm: () => unknown = () => process.exit();
process.on("SIGTERM", () => stopOnSigterm());

const flags = createCommand(
  "npm start",
  "Starts the service. docs/operations.md lists its settings.",
)
  .option("--check", "look at everything that it needs, and end")
  .parse()
  .opts<{ readonly check?: boolean }>();
const misspellings = misspelled(process.env);
try {
  const config = readConfig(process.env);
  if (flags.check) {
    ignoreClosedOutput();
    const warn = (message: string) => console.error(`warning: ${message}`);
    misspellings.forEach(warn);
    isTracingOn(process.env, warn);
    const database = openPool(config, 1, config.databaseUrl);
    const checkSession = () => checkSessionOf(config, database, warn);
    const open = (name: string) => openPool(config, 1, { ...config.databaseUrl, database: name });
    const parts = { database, checkSession, statements: statementsOf(config), open };
    process.exit((await check(config, parts)) ? 0 : 1);
  }
  await start(config);
} catch (error) {
  for (const reason of reasonsOf(error)) console.error(`cannot start: ${reason}`);
  // They may be why. With a valid configuration the log has them already.
  if (error instanceof ConfigError) {
    for (const line of misspellings) console.error(`warning: ${line}`);
  }
  process.exit(1);
}

async function start(config: Config): Promise<void> {
  const logOutput = createLogOutput(openStdout());
  const log = createLog(config.logLevel, logOutput);
  for (const line of misspellings) log.warn(line);
  const readiness = createReadiness((ready, failed) => {
    const expected = ready || failed.every((check) => check === "shutdown");
    log[expected ? "info" : "warn"](ready ? {} : { failed }, ready ? "ready" : "not ready");
    ports.grpc.setServing(ready);
  });
  const metrics =
    config.adminPort === undefined
      ? undefined
      : createMetrics(
          () => readiness.isReady(),
          () => logOutput.dropped,
        );
  const report = createEventLog(log, metrics?.limitEvent);
  const tracing = await startTracing(process.env, log);
  // A connection that was lost while idle, for example: nothing to warn of.
  const logPool = (message: string) => log.debug({ message }, "pool");
  const url = followDatabaseUrl(process.env, config.databaseUrl, log);
  const database = openPool(config, config.poolSize, url, logPool);
  // Keys have connections of their own, so that no query of a provider delays authentication.
  const keyDatabase = openPool(config, KEY_CONNECTIONS, url, logPool);
  await checkDatabase(config, database, (message) => log.warn(message));
  const pageTokenKey = await readPageTokenKey(database);

  const openRead = (name: string, pool: Knex, max: number) => {
    const observed = metrics?.observePool({ name, max, connections: () => poolState(pool) });
    const observe = createReadObserver(observed, tracing?.tracer);
    return createRead(pool, { ...sessionOptions(config), observe });
  };
  const rateLimit = createRateLimit({
    rate: config.rateLimit,
    burst: config.rateLimitBurst,
  });
  const read = openRead("calls", database, config.poolSize);
  const { readMaxLag } = config;
  const rpc = createRpc({
    service: { method: METHODS },
    handlers: createRevenueService(
      readMaxLag === 0 ? read : limitAge(read, readMaxLag, metrics?.recordReplicaAge),
      {
        pageTokenKey,
        reportLag: createLagLog(log, metrics?.recordLag),
        reportDamage: createDamageLog(log, metrics?.damagedAnswer),
      },
    ),
    authenticate: createAuthenticate(config, openRead("keys", keyDatabase, KEY_CONNECTIONS)),
    findProvider: createFindProvider(read),
    isForPlatform,
    log,
    limits: { total: config.maxCalls, perProvider: config.maxCallsPerProvider },
    maxCall: config.maxCall,
    rateLimit,
    waitForTurn: createTurns(),
    metrics: metrics?.calls,
    traceCall: tracing?.traceCall,
  });
  const files = tlsFiles(config);
  const certificates = files && watchCertificates(files, log);
  if (certificates) {
    const failures = () => certificates.failures;
    metrics?.observeCertificates(() => certificates.current, failures);
  }
  const ports = createPorts({ config, rpc, log, report, metrics, certificates });
  const { gateway, grpc } = ports;
  const statements = statementsOf(config);
  const stopProbe = startDatabaseProbe({ url, readiness, statements });
  const admin = metrics && createAdminServer({ metrics: metrics.render, readiness });

  const host = listenAddress(config.host);
  const adminHost = listenAddress(config.adminHost ?? config.host);
  const grpcPort = await listen("GRPC_PORT", config.grpcPort, (port) => grpc.listen(host, port));
  const httpPort = await listen("HTTP_PORT", config.httpPort, (port) => gateway.listen(host, port));
  const adminPort =
    admin &&
    (await listen("ADMIN_PORT", config.adminPort ?? 0, (port) => admin.listen(adminHost, port)));
  const addresses = { host, httpPort, grpcPort, ...(admin && { adminHost, adminPort }) };
  log.info({ ...addresses, ...versions }, "listening");

  stopOnSigterm = stopOnSignals(config, log, {
    announce: () => readiness.set("shutdown", "the process is stopping"),
    stopPorts: (grace) => Promise.all([gateway.stop(grace), grpc.stop(grace)]),
    close: () =>
      Promise.all([
        admin?.close(),
        database.destroy(),
        keyDatabase.destroy(),
        stopProbe(),
        tracing?.stop(),
      ]),
  });
}

function createAuthenticate({ serviceKeys }: Config, read: Read): Authenticate {
  const keyQueue = (owner: string) => createKeyQueue(createFindKeys(read, owner));
  const keys = cacheKeys({
    known: keyQueue("known"),
    unknown: keyQueue("unknown"),
  });
  return createAuthentication(keys, createTokenBuckets(FAILURES_PER_ADDRESS), serviceKeys);
}
