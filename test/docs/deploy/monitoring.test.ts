/** Alerts and dashboard: promtool accepts them, every series that they name exists, and the runbook has each alert. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { parseExposition } from "../../support/telemetry/exposition.ts";
import { blockWith, ROOT, rootFile, section } from "../markdown.ts";
import { metricTexts } from "../metrics.ts";
import { findDebianProgram } from "./debian-program.ts";
import { yamlDocument } from "./files.ts";

/** A rule: an alert, or a recorded series. */
interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

const rules = yamlDocument<{ readonly groups: readonly { readonly rules: readonly Rule[] }[] }>(
  "prometheus/alerts.yaml",
).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert, ...rule }) => (alert ? [{ alert, ...rule }] : []));

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
}
const dashboardText = rootFile("deploy/grafana/dashboard.json");
const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(dashboardText);
/** The expressions of all panels, with Grafana's variables replaced. */
const panelExpressions = panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) =>
    expr.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"),
  ),
);

const texts = await metricTexts();

/** Runs Prometheus's own checker in `deploy/prometheus`. It may have to be downloaded. */
function promtool(args: readonly string[], input = "") {
  const { path, env } = findDebianProgram("prometheus", "usr/bin/promtool");
  const options = { cwd: join(ROOT, "deploy/prometheus"), input, encoding: "utf8" } as const;
  const run = spawnSync(path, args, { ...options, env: { ...process.env, ...env } });
  return { passed: run.status === 0, output: `${run.stdout}${run.stderr}` };
}

it("promtool accepts the configuration, the rules, which pass their tests, and the dashboard's expressions", () => {
  expect(promtool(["check", "config", "prometheus.yaml"])).toMatchObject({ passed: true });
  expect(promtool(["test", "rules", "alerts.test.yaml"])).toMatchObject({ passed: true });
  const panels = panelExpressions.map((expr, nth) => ({ record: `panel_${nth}`, expr }));
  // With the alert for a proxy's certificates, which is in docs/deployment.md alone.
  const ofProxy = blockWith("yaml", "RevenueProxyCertificateExpires").replace(/^/gm, "      ");
  const groups = `groups:\n  - ${JSON.stringify({ name: "panels", rules: panels })}\n  - name: proxy\n    rules:\n`;
  const folder = mkdtempSync(join(tmpdir(), "revenue-promtool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "rules.yaml"), `${groups}${ofProxy}`);
  const checked = promtool(["check", "rules", join(folder, "rules.yaml")]);
  expect(checked).toMatchObject({ passed: true });
});

it("promtool accepts the metrics", () => {
  for (const text of Object.values(texts)) {
    const { output } = promtool(["check", "metrics"], text);
    // OpenTelemetry names it so, against Prometheus's own habit.
    const expected = /^db_client_connection_count .* should not have "_count" suffix$/;
    expect(output.split("\n").filter((line) => line !== "" && !expected.test(line))).toEqual([]);
  }
});

it("every expression selects metrics of one of the two jobs, by labels that they have", () => {
  const series = [...parseExposition(texts.service), ...parseExposition(texts.rollup)];
  const known = new Map(
    series.flatMap(([family, { samples }]) => [
      [family, new Set<string>()] as const,
      ...samples.map(({ name, labels }) => [name, new Set(Object.keys(labels))] as const),
    ]),
  );
  const expressions = [
    ...panelExpressions,
    ...rules.map(({ expr }) => expr),
    JSON.parse(dashboardText).templating.list[1].query.query,
  ];
  for (const expression of expressions) {
    const selected = expression.matchAll(
      /\b((?:rpc|http|db|revenue|process|nodejs)_\w+)\b(?!:)(?:\{([^}]*)\})?/g,
    );
    for (const [, name = "", matchers = ""] of selected) {
      const metric = known.has(name) ? name : name.replace(/_(bucket|sum|count)$/, "");
      expect([...known.keys()], expression).toContain(metric);
      expect(matchers, expression).toMatch(/job="revenue(-rollup)?"/);
      const labels = [...matchers.matchAll(/(\w+) *[=!]/g)].map(([, label = ""]) => label);
      const own = labels.filter((label) => !["job", "instance", "le"].includes(label));
      const of = known.get(metric) ?? new Set();
      if (of.size > 0) expect([...of], expression).toEqual(expect.arrayContaining(own));
    }
  }
});

it("each alert is tested where it fires and where it does not, and is in the runbook, in this order", () => {
  interface Case {
    readonly alertname: string;
    readonly exp_alerts?: readonly unknown[];
  }
  const cases = yamlDocument<{ readonly tests: readonly { alert_rule_test?: readonly Case[] }[] }>(
    "prometheus/alerts.test.yaml",
  ).tests.flatMap(({ alert_rule_test = [] }) => alert_rule_test);
  for (const { alert, labels, annotations } of alerts) {
    const own = cases.filter(({ alertname }) => alertname === alert);
    const fires = own.map(({ exp_alerts = [] }) => exp_alerts.length > 0);
    expect(new Set(fires), alert).toEqual(new Set([true, false]));
    expect(labels?.severity, alert).toMatch(/^(critical|warning)$/);
    expect(annotations?.summary, alert).toMatch(/^\S.{10,}/);
    const anchor = `#${alert.toLowerCase()}`;
    expect(annotations?.runbook_url).toBe(`https://docs.example.com/revenue/runbook.md${anchor}`);
  }
  const headings = section("docs/runbook.md", "Alerts").matchAll(/^### (\S+)\n\n\S/gm);
  expect([...headings].map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
});

it("the runbook says of each alert what users feel, where to look, what to do and whom to call, by commands of its table", () => {
  const commands = section("docs/runbook.md", "Commands");
  const named = new Set([...commands.matchAll(/^\| \*\*(\w+)\*\*/gm)].map(([, name]) => name));
  const [, ...sections] = section("docs/runbook.md", "Alerts").split(/^### /m);
  for (const text of sections) {
    const [alert, ...lines] = text.trim().split(/\n+/);
    const labels = lines.map((line) => line.match(/^- \*\*(\w+)\*\*: \S/)?.[1]);
    expect(labels, alert).toEqual(["Users", "Look", "Do", "Call"]);
    const used = lines.flatMap((line) => [...line.slice(4).matchAll(/\*\*(\w+)\*\*(?!:)/g)]);
    for (const [, name] of used) expect([...named], alert).toContain(name);
  }
  expect(rootFile("deploy/systemd/revenue@.service")).toContain("ADMIN_PORT=946%i");
  expect(rootFile("deploy/systemd/revenue-rollup.service")).toContain("--admin-port 9464");
  expect(commands).toContain(
    "127.0.0.1:9461/readyz?verbose'`; 9462 is `revenue@2`, 9464 `revenue-rollup`",
  );
});
