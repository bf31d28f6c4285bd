/**
 * Metrics in Prometheus's text format, parsed. promtool checks that they are valid
 * (test/docs/deploy/monitoring.test.ts).
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly samples: Sample[];
}

/** A sample: its name, its labels, and its value. */
const SAMPLE = /^(\w+)(?:\{(.*?)\})? (\S+)$/;

/** Parses metrics. @throws Error that quotes a line that is none, or a series that comes twice */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current: Family | undefined;
  for (const line of text.trimEnd().split("\n")) {
    const [, family] = /^# TYPE (\w+) /.exec(line) ?? [];
    if (family !== undefined) {
      current = { samples: [] };
      families.set(family, current);
    }
    if (line === "" || line.startsWith("#")) continue;
    const [sample, name = "", labels, value = ""] = SAMPLE.exec(line) ?? [];
    const series = `${name}{${labels}}`;
    if (!sample || !current || seen.has(series)) throw new Error(`no sample, or twice: ${line}`);
    seen.add(series);
    current.samples.push({
      name,
      labels: parseLabels(labels),
      value: Number(value.replace("Inf", "Infinity")),
    });
  }
  return families;
}

const parseLabels = (text = "") =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)=("(?:[^"\\]|\\.)*")/g)].map(([, name, value = ""]) => [
      name,
      JSON.parse(value),
    ]),
  );

/** The sum of the samples with a name and labels; 0 if there is none. */
export function sumOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  return [...families.values()]
    .flatMap(({ samples }) => samples)
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([key, text]) => sample.labels[key] === text))
    .reduce((sum, { value }) => sum + value, 0);
}
