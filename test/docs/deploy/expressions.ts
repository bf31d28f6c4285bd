/** The rules and the dashboard, their PromQL expressions, and the series that an expression selects. */
import { rootFile } from "../markdown.ts";
import { yamlDocument } from "./files.ts";

/** A rule: an alert, or a recorded series. */
interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** All rules of `alerts.yaml`, in order. */
export const rules: readonly Rule[] = yamlDocument<{
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}>("prometheus/alerts.yaml").groups.flatMap((group) => group.rules);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly expr: string }[];
}

/** The dashboard. */
export const dashboard: {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly query: string | { query: string } }[] };
} = JSON.parse(rootFile("deploy/grafana/dashboard.json"));

/** An expression, and where it is from. */
export interface Expression {
  readonly source: string;
  readonly text: string;
}

/** The expressions of all panels, with Grafana's variables replaced. */
export const panelExpressions: readonly Expression[] = dashboard.panels.flatMap(
  ({ title, targets = [] }) =>
    targets.map(({ expr }) => ({
      source: `panel "${title}"`,
      text: expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
    })),
);

/** The metric that the dashboard's list of replicas is made of. */
const variables: readonly Expression[] = dashboard.templating.list.flatMap(({ query }) => {
  const text = typeof query === "string" ? query : query.query;
  const [, selector] = text.match(/^label_values\((.*), \w+\)$/) ?? [];
  return selector === undefined ? [] : [{ source: `variable "${text}"`, text: selector }];
});

/** The expressions of panels, variables and rules. */
export const expressions: readonly Expression[] = [
  ...panelExpressions,
  ...variables,
  ...rules.map(({ alert, record, expr }) => ({ source: alert ?? record ?? "", text: expr })),
];

/** A series that an expression selects: its name, and the labels that it selects by. */
interface Selection {
  readonly metric: string;
  readonly labels: readonly string[];
}

const WORDS = new Set(["and", "or", "unless", "bool", "by", "without", "on", "ignoring"]);

/** The series that an expression selects. Ranges such as `[5m]`, offsets and lists of labels are left out. */
export function selectionsOf({ text }: Expression): Selection[] {
  const bare = text
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, "")
    .replaceAll(/\boffset +\w+/g, "")
    .replaceAll(/\b(by|without|on|ignoring|group_left|group_right) *\([^)]*\)/g, "");
  const found = bare.matchAll(/([a-z_:][\w:]*)(\{[^}]*\})?(?! *\(|[\w:])/gi);
  return [...found].flatMap(([, metric = "", matchers = ""]) => {
    if (WORDS.has(metric)) return [];
    return [{ metric, labels: [...matchers.matchAll(/(\w+) *(?==|!)/g)].map(([name]) => name) }];
  });
}
