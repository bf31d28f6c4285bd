/** The Kubernetes manifests: valid by the types of Kubernetes, and right for this service. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../../src/config.ts";
import { page, ROOT } from "../markdown.ts";
import { compose, yamlDocument, yamlFile } from "./files.ts";

/** An object of the Kubernetes API. */
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** A Deployment or a Job: the fields that the tests look at. */
interface Workload extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
        readonly initContainers?: readonly Container[];
        readonly containers: readonly Container[];
      };
    };
  };
}

interface Container {
  readonly command?: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts: readonly { readonly mountPath: string }[];
  readonly resources: { readonly limits?: { readonly memory?: string } };
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

const DATABASE_URL = "mysql://user:password@host:3306/database";
const BASE = "kubernetes/base";
const POD_MONITOR = "kubernetes/components/prometheus-operator";

const kustomizationOf = (folder: string) =>
  yamlDocument<Kustomization>(`${folder}/kustomization.yaml`);

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

const manifests: readonly Manifest[] = [BASE, POD_MONITOR].flatMap(written);
const workloads = manifests.filter(({ kind }) => /^(Deployment|Job)$/.test(kind)) as Workload[];

/** All containers of a workload, in the order in which they start. */
const containersOf = ({ spec: { template } }: Workload) => [
  ...(template.spec.initContainers ?? []),
  ...template.spec.containers,
];

function written(folder: string): Manifest[] {
  const { resources = [] } = kustomizationOf(folder);
  return resources.flatMap((name) => yamlFile<Manifest>(`${folder}/${name}`));
}

/** The module with the type of a kind: `kubernetes-models/apps/v1`. */
function packageOf({ apiVersion }: Manifest): string {
  return apiVersion.startsWith("monitoring.coreos.com/")
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`;
}

it("each manifest has the fields of its kind, with values of their types, and no other", () => {
  // By the types that are made of Kubernetes' schemas: the schemas allow further fields.
  const folder = mkdtempSync(join(tmpdir(), "revenue-manifests-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const lines = manifests.flatMap((manifest, index) => [
    `import type { I${manifest.kind} as Kind${index} } from "${packageOf(manifest)}";`,
    `export const manifest${index}: Kind${index} = ${JSON.stringify(manifest)};`,
  ]);
  writeFileSync(join(folder, "manifests.ts"), lines.join("\n"));
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext"];
  const run = spawnSync(tsc, [...flags, "--types", "", "manifests.ts"], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(`${run.stdout}${run.stderr}`).toBe("");
});

it("no workload runs as root, with a writable root, more privileges, or a token", () => {
  expect(workloads.length).toBeGreaterThanOrEqual(3);
  for (const workload of workloads) {
    const { metadata, spec } = workload;
    expect(spec.template.spec, metadata.name).toMatchObject({
      automountServiceAccountToken: false,
      // So that SIGTERM ends a process that does not handle it yet: process 1 would ignore it.
      shareProcessNamespace: true,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    for (const container of containersOf(workload)) {
      expect(container, metadata.name).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        },
      });
    }
  }
});

it("each workload gets the settings, reads the database's URL from a file, and has a limit of memory", () => {
  for (const workload of workloads) {
    const { metadata } = workload;
    for (const { env, envFrom = [], resources, volumeMounts } of containersOf(workload)) {
      const names = envFrom.map(({ configMapRef }) => configMapRef.name);
      expect(names, metadata.name).toEqual(["revenue-settings"]);
      const file = env.find(({ name }) => name === "DATABASE_URL_FILE")?.value ?? "";
      const mounted = volumeMounts.map(({ mountPath }) => file.startsWith(`${mountPath}/`));
      expect(mounted, metadata.name).toContain(true);
      expect(env.map(({ name }) => name)).not.toContain("DATABASE_URL");
      expect(resources.limits?.memory, metadata.name).toMatch(/^\d+[MG]i$/);
    }
  }
});

it("the rollups and the migration are started as in compose.yaml, and the service by the image", () => {
  const commandsOf = (name: string) =>
    containersOf(yamlDocument<Workload>(`${BASE}/${name}.yaml`)).map(({ command }) => command);
  const { migrate, rollup } = compose.services;
  expect(commandsOf("rollup")).toEqual([rollup?.command]);
  // Without --watch: it ends.
  expect(commandsOf("migrate")).toEqual([migrate?.command, rollup?.command?.slice(0, 2)]);
  const service = written(BASE).find(({ kind, metadata }) => {
    return kind === "Deployment" && metadata.name === "revenue";
  }) as Workload;
  const { containers, terminationGracePeriodSeconds = 0 } = service.spec.template.spec;
  expect(containers[0]?.command).toBeUndefined();
  const config = readConfig({ DATABASE_URL });
  const ports = containers[0]?.ports?.map(({ name, containerPort }) => [name, containerPort]);
  expect(Object.fromEntries(ports ?? [])).toEqual({
    http: config.httpPort,
    grpc: config.grpcPort,
    admin: config.adminPort,
  });
  // It is killed only after it had the time to stop.
  const stop = config.lameDuck + config.grace;
  expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(stop + 3_000);
});

it("the first step of an upgrade applies the Job, and neither the service nor the rollups", () => {
  const [, key = "", values = ""] =
    /apply -k \S+ -l '(\S+) notin \(([^)]*)\)'/.exec(page("docs/deployment.md")) ?? [];
  const first = manifests.filter(
    ({ metadata }) => !values.split(", ").includes(metadata.labels?.[key] ?? "none"),
  );
  const kinds = first.map(({ kind }) => kind);
  expect(kinds).toContain("Job");
  // What the pod of the Job needs, or what does not change what runs.
  const harmless = ["ServiceAccount", "NetworkPolicy", "PodMonitor", "Job"];
  expect(kinds.filter((kind) => !harmless.includes(kind))).toEqual([]);
  const { env } = containersOf(yamlDocument<Workload>(`${BASE}/migrate.yaml`))[1] as Container;
  expect(env).toContainEqual({ name: "ROLLUP_WATCH_SECONDS", value: "" });
});

it("all replicas together open no more connections than a database allows by default", () => {
  const { spec } = written(BASE).find(
    ({ kind }) => kind === "HorizontalPodAutoscaler",
  ) as Manifest & { readonly spec: { readonly maxReplicas: number } };
  const [, connections = ""] = /each opens up to (\d+)/.exec(page("docs/deployment.md")) ?? [];
  // One replica more during a rollout; the rollups and the migration.
  expect((spec.maxReplicas + 1) * Number(connections) + 7 + 2).toBeLessThanOrEqual(151);
  // Of a replica: calls, keys, and readiness, which looks at the schema and connects anew.
  expect(readConfig({ DATABASE_URL }).poolSize + 4 + 2).toBe(Number(connections));
});
