/**
 * The metrics of the service. Other parts know nothing of Prometheus: they report what happens
 * through the functions here. No label holds anything that a client chooses: no provider, key,
 * address or path.
 */
import { addCallMetrics, addHttpMetrics } from "./calls.ts";
import { addDatabaseMetrics } from "./database.ts";
import { addProcessMetrics } from "./process.ts";
import { addCounter, addGauge, addReadCounter, createRegistry } from "./registry.ts";
import { addRollupMetrics } from "./rollups.ts";

/** The metrics of one process. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Creates the metrics of the service, all at zero.
 *
 * @param isReady whether `/readyz` succeeds
 * @param droppedLines how many lines of the log were dropped since the start
 */
export function createMetrics(isReady: () => boolean, droppedLines: () => number = () => 0) {
  const registry = createRegistry();
  const calls = addCallMetrics(registry);
  const observeHttpRequest = addHttpMetrics(registry);
  const observePool = addDatabaseMetrics(registry);
  const events = addCounter(registry, {
    name: "revenue_limit_events_total",
    help: "Connections and streams that were refused or closed because of a limit.",
    labels: ["event"],
  });
  const rejections = addCounter(registry, {
    name: "revenue_rejected_requests_total",
    help: "Requests on the HTTP port that never became a call.",
    labels: ["status"],
  });
  addReadCounter(
    registry,
    {
      name: "revenue_log_lines_dropped_total",
      help: "Log lines that were dropped because they could not be written in time.",
    },
    droppedLines,
  );
  const { recordLag, damagedAnswer } = addRollupMetrics(registry);
  let replicaAge: number | undefined;
  addGauge(
    registry,
    {
      name: "revenue_replica_age_seconds",
      help: "Age of the data of the last answer, by the heartbeat; absent without one.",
    },
    () => replicaAge,
  );
  addGauge(registry, { name: "revenue_ready", help: "1 if /readyz succeeds, otherwise 0." }, () =>
    isReady() ? 1 : 0,
  );
  addProcessMetrics(registry);

  return {
    calls,
    observeHttpRequest,
    observePool,
    recordLag,
    damagedAnswer,
    /** Counts an event of the event log. Events are a few fixed names. */
    limitEvent: (event: string) => events.inc({ event }),
    /** Adds the certificates in use. `expiresAt` is in epoch ms. */
    observeCertificates(
      certificates: () => { readonly expiresAt: number },
      failures: () => number,
    ) {
      addGauge(
        registry,
        {
          name: "revenue_tls_certificate_expiry_timestamp_seconds",
          help: "When the certificate of the ports expires, in seconds of the Unix epoch.",
        },
        () => certificates().expiresAt / 1_000,
      );
      addReadCounter(
        registry,
        {
          name: "revenue_tls_reload_failures_total",
          help: "Changed certificate files that could not be used.",
        },
        failures,
      );
    },
    /** Adds what is open on the gRPC port. */
    observeGrpc(open: () => { readonly connections: number; readonly streams: number }) {
      const connections = { name: "revenue_grpc_connections", help: "Open gRPC connections." };
      addGauge(registry, connections, () => open().connections);
      const streams = {
        name: "revenue_grpc_streams",
        help: "Open streams of gRPC connections: calls and health watches.",
      };
      addGauge(registry, streams, () => open().streams);
    },
    /** Counts a request that never became a call. */
    rejectedRequest: (status: number) => rejections.inc({ status: String(status) }),
    /** Records the age of the data of an answer, in ms. */
    recordReplicaAge(milliseconds: number) {
      replicaAge = milliseconds / 1_000;
    },
    render: () => registry.metrics(),
  };
}
