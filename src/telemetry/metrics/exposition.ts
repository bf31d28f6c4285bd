/**
 * Metrics as text: OpenMetrics where it is asked for, with exemplars, and otherwise the text format
 * of Prometheus. The client renders OpenMetrics, and the other format is made from that: a registry
 * of the client has one format for its whole life.
 *
 * @see https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
import { Registry } from "@prometheus-io/client";

/** Rendered metrics. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** Renders the metrics of a registry of OpenMetrics in the format that `Accept` asks for. */
export async function renderMetrics(
  registry: Registry<typeof Registry.OPENMETRICS_CONTENT_TYPE>,
  accept: string,
): Promise<Exposition> {
  const openMetrics = await registry.metrics();
  return accept.includes("application/openmetrics-text")
    ? { contentType: Registry.OPENMETRICS_CONTENT_TYPE, body: canonical(openMetrics) }
    : { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: toTextFormat(openMetrics) };
}

/** OpenMetrics writes the bound of a bucket as a float: `1.0`. */
function canonical(openMetrics: string): string {
  return openMetrics.replace(/([{,]le="\d+)"/g, '$1.0"');
}

/** A counter is named as its samples are; there are no exemplars and no mark of the end. */
function toTextFormat(openMetrics: string): string {
  return openMetrics
    .replace(
      /^# HELP (\S+) (.*)\n# TYPE \1 counter$/gm,
      "# HELP $1_total $2\n# TYPE $1_total counter",
    )
    .replace(/^([^#\n].*) # \{.*$/gm, "$1")
    .replace(/^# EOF\n/m, "");
}
