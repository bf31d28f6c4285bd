/** The registry of a process's metrics. They are named by OpenTelemetry's conventions, in Prometheus's form. */
import { Counter, Gauge, Histogram, Registry } from "@prometheus-io/client";

/** A registry. It renders Prometheus's text format. */
export type MetricsRegistry = Registry;

/** A metric's name and the sentence that explains it. */
interface Description {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The upper bounds of durations in seconds: those that OpenTelemetry recommends. */
const DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Creates an empty registry. */
export function createRegistry(): MetricsRegistry {
  return new Registry();
}

/** Adds a counter. Its name ends in `_total`. */
export function addCounter(
  registry: MetricsRegistry,
  { name, help, labels = [] }: Description,
): Counter<string> {
  return new Counter({ name, help, labelNames: [...labels], registers: [registry] });
}

/** Adds a histogram of durations in seconds. */
export function addDurations(
  registry: MetricsRegistry,
  { name, help, labels = [] }: Description,
): Histogram<string> {
  const labelNames = [...labels];
  const registers = [registry];
  return new Histogram({ name, help, labelNames, registers, buckets: DURATIONS });
}

/** A value, and the labels that it has. */
export interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Adds a gauge that is read at each scrape. No value: no series. */
export function addGauge(
  registry: MetricsRegistry,
  { name, help, labels = [] }: Description,
  read: () => number | undefined | readonly LabelledValue[],
): void {
  const gauge: Gauge<string> = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      gauge.reset();
      const now = read();
      if (typeof now === "number") gauge.set(now);
      else if (now === undefined) gauge.remove();
      else for (const { labels: of, value } of now) gauge.set(of, value);
    },
  });
}

/** Adds a counter that is kept elsewhere and read at each scrape. Its name ends in `_total`. */
export function addReadCounter(
  registry: MetricsRegistry,
  { name, help }: Description,
  read: () => number,
): void {
  const counter: Counter = new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      counter.reset();
      counter.inc(read());
    },
  });
}
