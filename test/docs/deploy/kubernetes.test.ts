/**
 * The Kubernetes manifests are right for this service. That they have the fields of their kinds is asked of Kubernetes:
 * `kubectl apply` refuses others.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { page, ROOT } from "../markdown.ts";
import { compose, yamlDocument, yamlFile } from "./files.ts";

/** An object of the Kubernetes API: the fields that the tests look at. */
interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly maxReplicas?: number;
    readonly template: { readonly spec: Pod };
  };
}

interface Pod {
  readonly terminationGracePeriodSeconds?: number;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

interface Container {
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

const BASE = "kubernetes/base";
const POD_MONITOR = "kubernetes/components/prometheus-operator";
const config = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });

const kustomizationOf = (folder: string) =>
  yamlDocument<Kustomization>(`${folder}/kustomization.yaml`);
const manifests = [BASE, POD_MONITOR].flatMap((folder) =>
  (kustomizationOf(folder).resources ?? []).flatMap((name) =>
    yamlFile<Manifest>(`${folder}/${name}`),
  ),
);
const workloads = manifests.filter(({ kind }) => /^(Deployment|Job)$/.test(kind));

/** All containers of a pod, in the order in which they start. */
const containersOf = ({ initContainers = [], containers }: Pod) => [
  ...initContainers,
  ...containers,
];
const podOf = (name: string) => yamlDocument<Manifest>(`${BASE}/${name}.yaml`).spec.template.spec;
const commandsOf = (name: string) => containersOf(podOf(name)).map(({ command }) => command);

it.each([BASE, POD_MONITOR, "kubernetes/components/tls", "kubernetes/overlays/example"])(
  "%s names every file of the folder, and no other",
  (folder) => {
    const { resources = [], components = [], patches = [] } = kustomizationOf(folder);
    const named = [...resources, ...components, ...patches.map(({ path }) => path)];
    const path = join(ROOT, "deploy", folder);
    expect(named.filter((name) => !existsSync(join(path, name)))).toEqual([]);
    const files = readdirSync(path).filter((name) => /(?<!kustomization)\.yaml$/.test(name));
    expect(files.filter((name) => !named.includes(name))).toEqual([]);
  },
);

it("no workload has more rights than it needs, or lacks the settings, the URL's file or a limit of memory", () => {
  expect(workloads.length).toBeGreaterThanOrEqual(3);
  for (const { metadata, spec } of workloads) {
    const pod = spec.template.spec;
    expect(pod, metadata.name).toMatchObject({
      automountServiceAccountToken: false,
      // So that SIGTERM ends a process that does not handle it yet: process 1 would ignore it.
      shareProcessNamespace: true,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    });
    for (const container of containersOf(pod)) {
      expect(container, metadata.name).toMatchObject({
        envFrom: [{ configMapRef: { name: "revenue-settings" } }],
        resources: { limits: { memory: expect.stringMatching(/^\d+[MG]i$/) } },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
      });
      const file = container.env.find(({ name }) => name === "DATABASE_URL_FILE")?.value;
      const mounted = container.volumeMounts.map(({ mountPath }) =>
        file?.startsWith(`${mountPath}/`),
      );
      expect(mounted, metadata.name).toContain(true);
    }
  }
});

it("the rollups and the migration are started as in compose.yaml, and the service by the image", () => {
  const { migrate, rollup } = compose.services;
  expect(commandsOf("rollup")).toEqual([rollup?.command]);
  // Without --watch: it ends.
  expect(commandsOf("migrate")).toEqual([migrate?.command, rollup?.command?.slice(0, 2)]);
  expect(commandsOf("deployment")).toEqual([undefined]);
  const { containers, terminationGracePeriodSeconds = 0 } = podOf("deployment");
  const ports = containers[0]?.ports?.map(({ name, containerPort }) => [name, containerPort]);
  const { httpPort: http, grpcPort: grpc, adminPort: admin } = config;
  expect(Object.fromEntries(ports ?? [])).toEqual({ http, grpc, admin });
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
  const harmless = ["Job", "NetworkPolicy", "PodMonitor", "ServiceAccount"];
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
