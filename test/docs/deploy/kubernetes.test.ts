/**
 * The Kubernetes manifests are right for this service. That they have the fields of their kinds is asked of Kubernetes:
 * `kubectl apply` refuses others.
 */
import { expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { page } from "../markdown.ts";
import { compose, yamlDocument, yamlFile } from "./files.ts";

/** An object of the Kubernetes API: the fields that the tests look at. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly maxReplicas?: number; readonly template: { readonly spec: Pod } };
}
interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}
interface Container {
  readonly command?: readonly string[];
}

const BASE = "kubernetes/base";
const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });
const { resources } = yamlDocument<{ resources: string[] }>(`${BASE}/kustomization.yaml`);
const manifests = resources.flatMap((name) => yamlFile<Manifest>(`${BASE}/${name}`));

/** All containers of a pod, in the order in which they start. */
const containersOf = ({ initContainers = [], containers }: Pod) => [
  ...initContainers,
  ...containers,
];
const podOf = (name: string) => yamlDocument<Manifest>(`${BASE}/${name}.yaml`).spec.template.spec;
const commandsOf = (name: string) => containersOf(podOf(name)).map(({ command }) => command);

it.each(["deployment", "rollup", "migrate"])(
  "%s has no more rights than it needs, and a limit of memory",
  (name) => {
    expect(podOf(name)).toMatchObject({
      automountServiceAccountToken: false,
      // So that SIGTERM ends a process that does not handle it yet: process 1 would ignore it.
      shareProcessNamespace: true,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    const capabilities = { drop: ["ALL"] };
    const rights = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities };
    for (const container of containersOf(podOf(name))) {
      expect(container).toMatchObject({
        resources: { limits: { memory: expect.stringMatching(/^\d+[MG]i$/) } },
        securityContext: rights,
      });
    }
  },
);

it("the rollups and the migration are started as in compose.yaml, and the service by the image", () => {
  const { migrate, rollup } = compose.services;
  expect(commandsOf("rollup")).toEqual([rollup?.command]);
  // Without --watch: it ends.
  expect(commandsOf("migrate")).toEqual([migrate?.command, rollup?.command?.slice(0, 2)]);
  expect(commandsOf("deployment")).toEqual([undefined]);
  const { terminationGracePeriodSeconds = 0 } = podOf("deployment");
  // It is killed only after it had the time to stop.
  const stop = config.lameDuck + config.grace;
  expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(stop + 3_000);
});

it("the first step of an upgrade applies the Job, and neither the service nor the rollups", () => {
  const [, key = "", values = ""] =
    /apply -k \S+ -l '(\S+) notin \(([^)]*)\)'/.exec(page("docs/deployment.md")) ?? [];
  const first = manifests
    .filter(({ metadata }) => !values.split(", ").includes(metadata.labels?.[key] ?? "none"))
    .map(({ kind }) => kind);
  // With the Job what its pod needs, or what does not change what runs.
  const harmless = ["Job", "NetworkPolicy", "ServiceAccount"];
  expect([...new Set(first)].sort()).toEqual(harmless);
});

it("all replicas together open no more connections than a database allows by default", () => {
  const replicas = manifests.find(({ kind }) => kind === "HorizontalPodAutoscaler")?.spec;
  const [, connections = ""] = /each opens up to (\d+)/.exec(page("docs/deployment.md")) ?? [];
  // One replica more during a rollout; the rollups and the migration.
  const open = ((replicas?.maxReplicas ?? Number.NaN) + 1) * Number(connections) + 7 + 2;
  expect(open).toBeLessThanOrEqual(151);
  // Of a replica: calls, keys, and readiness, which looks at the schema and connects anew.
  expect(config.poolSize + 4 + 2).toBe(Number(connections));
});
