/** Metrics of the process: version, CPU time, memory, heap, garbage collection, event loop lag. */
import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import { collectDefaultMetrics } from "@prometheus-io/client";
import { versions } from "../versions.ts";
import { addGauge, type MetricsRegistry } from "./registry.ts";

/**
 * The client's own metrics that are left out: listing the handles of 20,000 connections would take
 * long, and the utilization of the event loop needs a timer of 100 ms.
 */
const LEFT_OUT = /^nodejs_(active_|eventloop_utilization)/;
/** The time of that timer, in ms: the client has no option to turn it off. */
const RARELY = 2 ** 31 - 1;

/** Adds the metrics of this process to a registry. */
export function addProcessMetrics(registry: MetricsRegistry): void {
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: RARELY });
  for (const { name } of registry.getMetricsAsArray()) {
    if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  }
  addLimits(registry);
  addBuildInfo(registry);
}

/** Adds what the process may have: the alert on memory compares what it has with that. */
function addLimits(registry: MetricsRegistry): void {
  addGauge(
    registry,
    {
      name: "revenue_memory_limit_bytes",
      help: "The memory that the process may have: the limit of its cgroup, or that of the machine.",
    },
    // 0 and 2^64 stand for no limit.
    () => Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()),
  );
  addGauge(
    registry,
    {
      name: "revenue_heap_limit_bytes",
      help: "The heap that V8 may have: a process that reaches it ends.",
    },
    () => getHeapStatistics().heap_size_limit,
  );
}

/** Adds the versions, as Prometheus's programs do: as labels of a 1. */
function addBuildInfo(registry: MetricsRegistry): void {
  addGauge(
    registry,
    {
      name: "revenue_build_info",
      help: "1; the labels are the versions of the service, of Node and of its time zone data.",
      labels: Object.keys(versions),
    },
    () => [{ labels: versions, value: 1 }],
  );
  addGauge(
    registry,
    {
      name: "revenue_tzdata_release_year",
      help: "The year of the release of Node's time zone data: they age.",
    },
    () => Number.parseInt(versions.tzdata, 10),
  );
}
