/** Metrics of the process: CPU time, memory, heap, garbage collection, event loop delay. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics } from "@prometheus-io/client";
import { addGauge, type MetricsRegistry } from "./registry.ts";

/**
 * The client's own metrics that are left out: listing the handles of 20,000 connections would take
 * long, and the delay of the event loop is measured below.
 */
const LEFT_OUT = /^nodejs_(active_|eventloop_)/;
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
  addEventLoopDelay(registry);
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
