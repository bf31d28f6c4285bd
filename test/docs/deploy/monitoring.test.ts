/** Alerts and dashboard: promtool accepts them, every series that they name exists, and the runbook has each alert. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseExposition } from "../../support/telemetry/exposition.ts";
import { blockWith, section } from "../markdown.ts";
import { metricTexts } from "../metrics.ts";
import {
  dashboard,
  type Expression,
  expressions,
  panelExpressions,
  rules,
  selectionsOf,
} from "./expressions.ts";
import { compose, yamlDocument } from "./files.ts";
import { findPromtool, promtool } from "./promtool.ts";

let texts: Awaited<ReturnType<typeof metricTexts>>;
beforeAll(() => void findPromtool(), 400_000); // it may have to be downloaded
beforeAll(async () => {
  texts = await metricTexts();
});

describe("promtool", () => {
  it.each([
    ["accepts the configuration", ["check", "config", "prometheus.yaml"]],
    ["accepts the rules, which pass their tests", ["test", "rules", "alerts.test.yaml"]],
  ])("%s", (_, args) => {
    expect(promtool(args)).toMatchObject({ passed: true });
  });

  it("accepts the expressions of the panels", () => {
    const folder = mkdtempSync(join(tmpdir(), "revenue-panels-"));
    const file = join(folder, "panels.json");
    const asRules = panelExpressions.map(({ text }, index) => ({
      record: `panel_${index}`,
      expr: text,
    }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: "panels", rules: asRules }] }));
    const checked = promtool(["check", "rules", file]);
    rmSync(folder, { recursive: true });
    expect(checked).toMatchObject({ passed: true });
  });

  it("accepts the alert for certificates of a proxy, which rings in time, and if nobody looks", () => {
    const folder = mkdtempSync(join(tmpdir(), "revenue-proxy-alert-"));
    const alertname = "RevenueProxyCertificateExpires";
    const rule = blockWith("yaml", alertname).replace(/^/gm, "      ");
    writeFileSync(join(folder, "alerts.yaml"), `groups:\n  - name: proxy\n    rules:\n${rule}`);
    const labels = { job: "revenue-proxy", instance: "a" };
    const exp_annotations = {
      summary: "The certificate of the proxy expires in less than 14 days, or nobody looks",
    };
    const situation = (values: string, exp_labels?: object) => ({
      interval: "1m",
      input_series: [
        { series: 'probe_ssl_earliest_cert_expiry{job="revenue-proxy", instance="a"}', values },
      ],
      alert_rule_test: [
        { alertname, eval_time: "2h", exp_alerts: exp_labels && [{ exp_labels, exp_annotations }] },
      ],
    });
    const [days, severity] = [86_400, "warning"];
    const tests = [
      situation(`${15 * days}x130`),
      situation(`${13 * days}x130`, { severity, ...labels }),
      situation("stale", { severity, job: labels.job }),
    ];
    const file = join(folder, "test.json");
    writeFileSync(file, JSON.stringify({ rule_files: ["alerts.yaml"], tests }));
    const checked = promtool(["test", "rules", file]);
    rmSync(folder, { recursive: true });
    expect(checked).toMatchObject({ passed: true });
  });

  it.each(["service", "rollup"] as const)("accepts the metrics of the %s", (name) => {
    const { output } = promtool(["check", "metrics"], texts[name]);
    // OpenTelemetry names it so, against Prometheus's own habit.
    const expected = /^db_client_connection_count .* should not have "_count" suffix$/;
    expect(output.split("\n").filter((line) => line !== "" && !expected.test(line))).toEqual([]);
  });
});

describe("the expressions", () => {
  /** Series that Prometheus itself makes, and the labels that it adds. */
  const OWN_SERIES = ["up", ...rules.flatMap(({ record = [] }) => record)];
  const OWN_LABELS = ["job", "instance", "le"];

  /** The labels of a series in a text of metrics: none yet if it has no sample. Undefined without it. */
  function labelsIn(text: string, series: string): readonly string[] | "none yet" | undefined {
    const families = parseExposition(text);
    const family = families.get(series) ?? families.get(series.replace(/_(bucket|sum|count)$/, ""));
    if (family === undefined) return undefined;
    const sample = family.samples.find(({ name }) => name === series);
    return sample === undefined ? "none yet" : Object.keys(sample.labels);
  }

  /** What is wrong with the series that an expression selects. */
  function mistakesIn(expression: Expression): string[] {
    const { source, text } = expression;
    const metrics = text.includes('job="revenue-rollup"') ? texts.rollup : texts.service;
    return selectionsOf(expression).flatMap(({ metric, labels }) => {
      const known = OWN_SERIES.includes(metric) ? "none yet" : labelsIn(metrics, metric);
      if (known === undefined) return [`${source}: there is no metric ${metric}`];
      const unknown = labels.filter(
        (label) => known !== "none yet" && ![...known, ...OWN_LABELS].includes(label),
      );
      return [
        ...unknown.map((label) => `${source}: ${metric} has no label ${label}`),
        ...(labels.includes("job") || metric.includes(":") ? [] : [`${source}: which job?`]),
      ];
    });
  }

  it("name metrics and labels that exist, of one of the two jobs", () => {
    expect(expressions.filter((expression) => selectionsOf(expression).length === 0)).toEqual([]);
    expect(expressions.flatMap(mistakesIn)).toEqual([]);
    const jobs = expressions.flatMap(({ text }) => text.match(/job=~?"[^"]*"/g) ?? []);
    expect(new Set(jobs)).toEqual(new Set(['job="revenue"', 'job="revenue-rollup"']));
  });
});

describe("each alert", () => {
  interface Case {
    readonly alertname: string;
    readonly exp_alerts?: readonly unknown[];
  }
  const alerts = rules.flatMap(({ alert, ...rule }) => (alert ? [{ alert, ...rule }] : []));
  const cases = yamlDocument<{ readonly tests: readonly { alert_rule_test?: readonly Case[] }[] }>(
    "prometheus/alerts.test.yaml",
  ).tests.flatMap(({ alert_rule_test = [] }) => alert_rule_test);

  it("is tested with a situation in which it fires, and with one in which it does not", () => {
    for (const { alert } of alerts) {
      const own = cases.filter(({ alertname }) => alertname === alert);
      const fires = own.map(({ exp_alerts = [] }) => exp_alerts.length > 0);
      expect(new Set(fires), alert).toEqual(new Set([true, false]));
    }
  });

  it("has a severity, a summary, and a section of the runbook, in the order of the alerts", () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(labels?.severity, alert).toMatch(/^(critical|warning)$/);
      expect(annotations?.summary, alert).toMatch(/^\S.{10,}/);
      expect(annotations?.runbook).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
    }
    const headings = section("docs/runbook.md", "Alerts").matchAll(/^### (\S+)\n\n\S/gm);
    expect([...headings].map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
  });
});

it("the dashboard can be imported anywhere: no id twice, and the data source is chosen in it", () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  for (const { title, datasource } of panels.filter(({ type }) => type !== "row")) {
    expect(datasource?.uid, title).toBe("$" + "{datasource}");
  }
});

it("Grafana finds the dashboard where compose.yaml mounts it", () => {
  const { providers } = yamlDocument<{
    readonly providers: readonly { readonly options: { readonly path: string } }[];
  }>("grafana/provisioning/dashboards/revenue.yaml");
  const [mount = ""] =
    compose.services.grafana?.volumes?.filter((volume) => /dashboard\.json/.test(volume)) ?? [];
  expect(mount).toBe(`./grafana/dashboard.json:${providers[0]?.options.path}/revenue.json:ro`);
});
