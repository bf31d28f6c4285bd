/** The alerts: promtool accepts and tests them, and each has a section in the runbook. */
import { describe, expect, it } from "vitest";
import { section } from "../markdown.ts";
import { yamlDocument } from "./files.ts";
import { promtool } from "./promtool.ts";
import { alerts } from "./rules.ts";

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test?: readonly {
      readonly alertname: string;
      readonly exp_alerts?: readonly unknown[];
    }[];
  }[];
}

describe("promtool", () => {
  it.each([
    ["accepts the rules", ["check", "rules", "alerts.yaml"]],
    ["accepts the configuration", ["check", "config", "prometheus.yaml"]],
    ["passes the tests of the rules", ["test", "rules", "alerts.test.yaml"]],
  ])("%s", (_, args) => {
    expect(promtool(args)).toMatchObject({ passed: true });
  });
});

describe.each(alerts)("$alert", ({ alert, labels, annotations }) => {
  const cases = yamlDocument<RuleTests>("prometheus/alerts.test.yaml")
    .tests.flatMap((test) => test.alert_rule_test ?? [])
    .filter(({ alertname }) => alertname === alert);

  it("is tested with a situation in which it fires, and with one in which it does not", () => {
    const fires = cases.map(({ exp_alerts = [] }) => exp_alerts.length > 0);
    expect([...new Set(fires)].sort()).toEqual([false, true]);
  });

  it("has a severity and a summary", () => {
    expect(labels?.severity).toMatch(/^(critical|warning)$/);
    expect(annotations?.summary).toMatch(/^\S.{10,}/);
  });

  it("has a section in the runbook: what it means, where to look and what to do", () => {
    expect(annotations?.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    const [, text = ""] = section("docs/runbook.md", "Alerts").split(`\n### ${alert}\n`);
    const [paragraph = ""] = text.split("\n### ");
    expect(paragraph.trim().length, "the length of the section").toBeGreaterThan(80);
  });
});

it("the runbook has a section for each alert, in their order, and no other", () => {
  const headings = section("docs/runbook.md", "Alerts").matchAll(/^### (\S+)$/gm);
  expect([...headings].map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
});
