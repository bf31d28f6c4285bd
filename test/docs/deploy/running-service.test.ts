/** What `deploy/` expects of a running service: every metric that it names, and the health that it asks for. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { startRollup } from "../../support/commands/rollup-process.ts";
import { poll } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { type ServiceProcess, startService } from "../../support/service/service-process.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { createAuthority, createFiles } from "../../support/tls/certificates.ts";
import {
  type Expression,
  expressions,
  groupingsOf,
  panelExpressions,
  selectionsOf,
} from "./expressions.ts";
import { yamlDocument } from "./files.ts";
import { promtool } from "./promtool.ts";
import { rules } from "./rules.ts";

interface Compose {
  readonly services: {
    readonly service: { readonly healthcheck: { readonly test: readonly string[] } };
    readonly rollup: { readonly command: readonly string[] };
  };
}

const { services } = yamlDocument<Compose>("compose.yaml");
/** The flags of the rollup command, on a free port. */
const rollupFlags = services.rollup.command
  .slice(services.rollup.command.indexOf("src/cli/rollup.ts") + 1)
  .map((word) => (word === "9464" ? "0" : word));

/** Series that Prometheus itself makes, and the labels that it adds. */
const OWN_SERIES = ["up", ...rules.flatMap(({ record = [] }) => record)];
const OWN_LABELS = ["job", "instance", "le"];

/** The labels of each series in a text of metrics, by its name. */
function seriesIn(text: string): Map<string, Set<string>> {
  const series = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const names = series.get(name) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) names.add(label);
    series.set(name, names);
  }
  // A counter without a series yet.
  for (const [, name = ""] of text.matchAll(/^# TYPE (\w+) counter$/gm)) {
    if (!series.has(name)) series.set(name, new Set());
  }
  return series;
}

async function scrape(port: unknown): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(response.status).toBe(200);
  return response.text();
}

const adminPort = (service: ServiceProcess) =>
  service.log().find(({ msg }) => msg === "listening")?.adminPort;

/** The text of each process: the service after a call, one with TLS, and the rollup command. */
const texts: Record<"service" | "withTls" | "rollup", string> = {
  service: "",
  withTls: "",
  rollup: "",
};
let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture(smallLedger, {
    ADMIN_PORT: "0",
    DATABASE_READ_MAX_LAG_MS: "60000",
  });
  const { database, service, key } = fixture;
  const rollup = startRollup(database.url, ...rollupFlags);
  try {
    const port = await poll(
      30_000,
      () =>
        rollup
          .lines()
          .join("\n")
          .match(/health on \S+:(\d+)/)?.[1],
    );
    // The first pass writes the heartbeat, without which there is no answer whose age could be told.
    texts.rollup = await poll(30_000, async () => {
      const text = await scrape(port);
      return /^revenue_rollup_passes_total\{result="ok"\} [1-9]/m.test(text) ? text : undefined;
    });
  } finally {
    rollup.signal("SIGTERM");
    await rollup.ended;
  }
  const { status } = await rawHttp(service.http, {
    target: paths.GetOverview,
    headers: withKey(key),
  });
  expect(status).toBe(200);
  texts.service = await scrape(adminPort(service));
  using certificate = createFiles(await (await createAuthority()).issue());
  const tls = await startService(database.url, { ADMIN_PORT: "0", ...certificate.files });
  try {
    texts.withTls = await scrape(adminPort(tls));
  } finally {
    await tls.stop();
  }
});
afterAll(() => fixture?.dispose());

describe.each(expressions.map((expression) => [expression.source, expression] as const))(
  "%s",
  (_, expression) => {
    const selections = selectionsOf(expression);

    it("names metrics and labels that exist", () => {
      expect(selections).not.toEqual([]);
      const seen = new Set(OWN_LABELS);
      const isOfRollup = expression.text.includes('job="revenue-rollup"');
      const series = seriesIn(isOfRollup ? texts.rollup : texts.service + texts.withTls);
      for (const { metric, labels } of selections) {
        if (OWN_SERIES.includes(metric)) continue;
        const known = series.get(metric);
        expect(known, metric).toBeDefined();
        if (known === undefined || known.size === 0) continue;
        for (const label of known) seen.add(label);
        const unknown = labels.filter((label) => !known.has(label) && !OWN_LABELS.includes(label));
        expect(unknown, metric).toEqual([]);
      }
      if (selections.every(({ metric }) => series.get(metric)?.size !== 0)) {
        expect(groupingsOf(expression).filter((label) => !seen.has(label))).toEqual([]);
      }
    });

    it("selects one of the two jobs", () => {
      for (const { metric, labels } of selections) {
        if (!metric.includes(":")) expect(labels, metric).toContain("job");
      }
      expect(expression.text).not.toMatch(/job=(?!"revenue(-rollup)?")/);
    });
  },
);

it("promtool accepts the expressions of the panels", () => {
  const groups = [{ name: "panels", rules: panelExpressions.map(asRule) }];
  const folder = mkdtempSync(join(tmpdir(), "revenue-panels-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "panels.json");
  writeFileSync(file, JSON.stringify({ groups }));
  expect(promtool(["check", "rules", file])).toMatchObject({ passed: true });
});

function asRule({ text }: Expression, index: number) {
  return { record: `panel_${index}`, expr: text };
}

it("the health check of compose.yaml passes while the service is ready, and fails if it is away", () => {
  const [how, program, ...args] = services.service.healthcheck.test;
  expect([how, program]).toEqual(["CMD", "node"]);
  const check = (port: unknown) =>
    spawnSync(
      process.execPath,
      args.map((arg) => arg.replace(":9464/", `:${port}/`)),
    ).status;
  expect(check(adminPort(fixture.service))).toBe(0);
  expect(check(1)).toBe(1);
});

it.each(["service", "rollup"] as const)("promtool accepts the metrics of the %s", (name) => {
  const { output } = promtool(["check", "metrics"], texts[name]);
  // OpenTelemetry names it so, against Prometheus's own habit.
  const expected = /^db_client_connection_count .* should not have "_count" suffix$/;
  expect(output.split("\n").filter((line) => line !== "" && !expected.test(line))).toEqual([]);
});
