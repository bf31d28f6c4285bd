/** Metrics of the process: version, CPU time, memory, heap, garbage collection, event loop delay. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics } from "@prometheus-io/client";
import { addGauge, type MetricsRegistry } from "./registry.ts";

/**
 * The client's own metrics that are left out: listing the handles of 20,000 connections would take
 * long, and the delay of the event loop is measured below.
 */
const LEFT_OUT = /^nodejs_(active_|eventloop_)/;
/** It has the version of the service. */
const MANIFEST = join(import.meta.dirname, "../../../package.json");
/** How often the delay of the event loop is sampled, in ms. */
const RESOLUTION = 20;
/** The interval, in ms, of what is left out: the client has no option to turn it off. */
const RARELY = 2 ** 31 - 1;

/** Adds the metrics of this process to a registry. */
export function addProcessMetrics(registry: MetricsRegistry): void {
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: RARELY,
    eventLoopUtilizationTimeout: RARELY,
  });
  for (const { name } of registry.getMetricsAsArray()) {
    if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  }
  addBuildInfo(registry);
  addEventLoopDelay(registry);
}

/** Adds the versions of the service and of Node, as Prometheus's programs do: as labels of a 1. */
function addBuildInfo(registry: MetricsRegistry): void {
  const { version }: { readonly version: string } = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const labels = { version, node: process.versions.node };
  addGauge(
    registry,
    {
      name: "revenue_build_info",
      help: "1; the labels are the versions of the service and of Node.",
      labels: Object.keys(labels),
    },
    () => [{ labels, value: 1 }],
  );
}

/** Adds how late the timers of the event loop were since the last scrape. */
function addEventLoopDelay(registry: MetricsRegistry): void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  delays.enable();
  // A sample includes the time that the timer was meant to take.
  const seconds = (nanoseconds: number) =>
    delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1e3);
  const add = (statistic: string, read: () => number) =>
    addGauge(
      registry,
      {
        name: `nodejs_eventloop_delay_${statistic}_seconds`,
        help: `How late timers were since the last scrape: ${statistic}.`,
      },
      read,
    );
  add("mean", () => seconds(delays.mean));
  add("p50", () => seconds(delays.percentile(50)));
  add("p99", () => seconds(delays.percentile(99)));
  add("max", () => {
    const max = seconds(delays.max);
    delays.reset(); // gauges are read in the order in which they were added
    return max;
  });
}
