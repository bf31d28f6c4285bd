/** The table of metrics in docs/operations.md has the metrics of the service, and their labels. */
import { expect, it } from "vitest";
import { createMetrics } from "../../../src/telemetry/metrics/metrics.ts";
import { parseExposition } from "../../support/telemetry/exposition.ts";
import { codeIn, tableWith } from "../markdown.ts";

const rows = tableWith("metric", "type", "labels", "what it tells").map(
  ([name = "", type = "", labels = ""]) => ({
    name: codeIn(name)[0] ?? "",
    type,
    labels: codeIn(labels).sort(),
  }),
);
const isPattern = (name: string) => name.includes("*");

/** Metrics of everything, each with at least one sample. */
async function families() {
  const metrics = createMetrics(() => true);
  metrics.calls.started();
  metrics.calls.ended({
    ...{ requestId: "r-1", protocol: "rest", method: "GetOverview", providerId: "1" },
    ...{ milliseconds: 1, error: undefined },
  });
  metrics.observeHttpRequest({ method: "GET", route: "/", status: 200, milliseconds: 1 });
  const pool = { name: "calls", max: 1, connections: () => ({ idle: 0, used: 1 }) };
  const reads = metrics.observePool(pool);
  reads.waits();
  reads.waited(1);
  reads.ran("overview", 1);
  metrics.cacheRequest("keys", true);
  metrics.limitEvent("responseTimeout");
  metrics.rejectedRequest("rest", "404");
  metrics.recordReplicaAge(1);
  metrics.observeCertificates(
    () => ({ expiresAt: 0 }),
    () => 0,
  );
  return parseExposition((await metrics.render("")).body);
}

it("the table has every metric of the service, with its type and its labels", async () => {
  const patterns = rows.flatMap(({ name }) => (isPattern(name) ? [name] : []));
  patterns.push("nodejs_*"); // in a cell with process_*
  const described = (name: string) =>
    patterns.some((pattern) => new RegExp(`^${pattern.replace("*", ".*")}$`).test(name));
  const real = [...(await families())]
    .filter(([name]) => !described(name))
    .map(([name, { type, samples }]) => ({
      name,
      type,
      labels: Object.keys(samples[0]?.labels ?? {})
        .filter((label) => label !== "le")
        .sort(),
    }));
  const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);
  const shown = rows.filter(({ name }) => !isPattern(name));
  expect(shown.sort(byName)).toEqual(real.sort(byName));
});
