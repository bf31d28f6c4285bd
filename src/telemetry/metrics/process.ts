/** Metrics of the process: version, CPU time, memory, heap, garbage collection, event loop lag. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { collectDefaultMetrics } from "@prometheus-io/client";
import { addGauge, type MetricsRegistry } from "./registry.ts";

/**
 * The client's own metrics that are left out: listing the handles of 20,000 connections would take
 * long, and the utilization of the event loop needs a timer of 100 ms.
 */
const LEFT_OUT = /^nodejs_(active_|eventloop_utilization)/;
/** It has the version of the service. */
const MANIFEST = join(import.meta.dirname, "../../../package.json");
/** The time of that timer, in ms: the client has no option to turn it off. */
const RARELY = 2 ** 31 - 1;

/** Adds the metrics of this process to a registry. */
export function addProcessMetrics(registry: MetricsRegistry): void {
  collectDefaultMetrics({ register: registry, eventLoopUtilizationTimeout: RARELY });
  for (const { name } of registry.getMetricsAsArray()) {
    if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  }
  addBuildInfo(registry);
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
