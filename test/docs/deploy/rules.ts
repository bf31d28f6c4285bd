/** The alerts and recording rules in `deploy/prometheus/alerts.yaml`. */
import { yamlDocument } from "./files.ts";

/** A rule: an alert, or a recorded series. */
export interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** All rules, in order. */
export const rules: readonly Rule[] = yamlDocument<{
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
}>("prometheus/alerts.yaml").groups.flatMap((group) => group.rules);

/** An alert. */
export interface Alert extends Rule {
  readonly alert: string;
}

/** The alerts, in order. */
export const alerts: readonly Alert[] = rules.filter(
  (rule): rule is Alert => rule.alert !== undefined,
);
