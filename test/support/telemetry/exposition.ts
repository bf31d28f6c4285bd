/**
 * A strict parser of metrics: the text format of Prometheus and OpenMetrics 1.0. It refuses what a
 * scraper might let pass: a family twice, samples without a type or of another family, a series twice.
 */

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The labels of its exemplar. */
  readonly exemplar?: Readonly<Record<string, string>>;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABELS = String.raw`\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\}`;
/** The client writes `Nan`. In both formats, the case does not matter. */
const NUMBER = String.raw`(?:[+-]?Inf|N[Aa][Nn]|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)`;
const SAMPLE = new RegExp(`^(${NAME})(?:${LABELS})? (${NUMBER})$`);
const EXEMPLAR = new RegExp(` # ${LABELS} ${NUMBER} ${NUMBER}$`);

/** The samples that a family of a type may have: what follows the name of the family. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  gauge: [""],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["", "_sum", "_count"],
};

/** Parses metrics. Throws an Error that quotes the first line at fault. */
export function parseExposition(text: string, openMetrics = false): Map<string, Family> {
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line has no line feed");
  const lines = text.slice(0, -1).split("\n");
  if (openMetrics && lines.pop() !== "# EOF") throw new Error("the last line is not # EOF");
  let help: RegExpExecArray | null = null;
  let current: [name: string, family: Family] | undefined;
  for (const line of lines) {
    const fail = (why: string) => new Error(`${why}: ${line}`);
    if (line.startsWith("# HELP ")) {
      help = new RegExp(`^# HELP (${NAME}) (.+)$`).exec(line);
      if (!help) throw fail("not a HELP line");
    } else if (line.startsWith("# TYPE ")) {
      const [, name = "", type = ""] = new RegExp(`^# TYPE (${NAME}) (\\w+)$`).exec(line) ?? [];
      if (help?.[1] !== name) throw fail("no HELP before");
      if (type !== "counter" && !SUFFIXES[type]) throw fail("unknown type");
      if (families.has(name)) throw fail("second time");
      current = [name, { type, help: help[2] ?? "", samples: [] }];
      families.set(...current);
      help = null;
    } else {
      if (!current || help) throw fail("a sample without TYPE");
      const [family, { type, samples }] = current;
      const exemplar = openMetrics ? EXEMPLAR.exec(line) : null;
      const match = SAMPLE.exec(exemplar ? line.slice(0, exemplar.index) : line);
      if (!match) throw fail("not a sample");
      const [, name = "", labelText = "", number = ""] = match;
      const suffixes = SUFFIXES[type] ?? [openMetrics ? "_total" : ""];
      if (!suffixes.some((suffix) => name === family + suffix)) throw fail(`not of ${family}`);
      const labels = parseLabels(labelText);
      if (openMetrics && labels.le && !/^(\+Inf|\d+\.\d+)$/.test(labels.le)) {
        throw fail("a bound that is not written as a float");
      }
      const series = name + JSON.stringify(Object.entries(labels).sort());
      if (seen.has(series)) throw fail("a series twice");
      seen.add(series);
      const value = Number(number.replace("Inf", "Infinity"));
      if (type === "counter" && !(value >= 0)) throw fail("a counter that is not a count");
      samples.push({
        name,
        labels,
        value,
        ...(exemplar && { exemplar: parseLabels(exemplar[1]) }),
      });
    }
  }
  return families;
}

function parseLabels(text = ""): Record<string, string> {
  const pairs = [...text.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/g)];
  const labels = Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => [
      name,
      value.replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character)),
    ]),
  );
  if (Object.keys(labels).length !== pairs.length) throw new Error(`a label twice: ${text}`);
  return labels;
}

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
