/** The dashboard: what Grafana needs to show it, and the rows that an operator looks for. */
import { expect, it } from "vitest";
import { rootFile } from "../markdown.ts";
import { yamlDocument } from "./files.ts";

interface Place {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: Place;
  readonly datasource?: { readonly uid: string };
}

const { panels }: { readonly panels: readonly Panel[] } = JSON.parse(
  rootFile("deploy/grafana/dashboard.json"),
);

it("has a row for each subject", () => {
  expect(panels.filter(({ type }) => type === "row").map(({ title }) => title)).toEqual([
    "Now",
    "Calls and errors",
    "Latency",
    "Database and pool",
    "Rollups",
    "Process and connections",
    "TLS and limits",
  ]);
});

it("has no two panels of one id, or in one place", () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const overlap = (a: Place, b: Place) =>
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  const pairs = panels.flatMap((one, index) =>
    panels.slice(index + 1).map((other) => [one, other] as const),
  );
  const overlapping = pairs.filter(([one, other]) => overlap(one.gridPos, other.gridPos));
  expect(overlapping.map(([one, other]) => `${one.title}, ${other.title}`)).toEqual([]);
});

it("asks the data source that is chosen in it, so that it can be imported anywhere", () => {
  const shown = panels.filter(({ type }) => type !== "row");
  for (const { title, datasource } of shown) {
    expect(datasource?.uid, title).toMatch(/^\$\{datasource\}$/);
  }
});

it("is provisioned from where compose.yaml mounts it", () => {
  const { providers } = yamlDocument<{
    readonly providers: readonly { readonly options: { readonly path: string } }[];
  }>("grafana/provisioning/dashboards/revenue.yaml");
  const { services } = yamlDocument<{
    readonly services: { readonly grafana: { readonly volumes: readonly string[] } };
  }>("compose.yaml");
  const mounted = services.grafana.volumes.map((volume) => volume.split(":").slice(0, 2));
  const target = mounted.find(([source]) => source === "./grafana/dashboard.json")?.[1] ?? "";
  expect(providers.map(({ options }) => target.startsWith(`${options.path}/`))).toEqual([true]);
});
