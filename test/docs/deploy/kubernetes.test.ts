/** The Kubernetes manifests: valid by the schemas of Kubernetes, and right for this service. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { findProgram } from "../../../dev/private-database/server-binary.ts";
import { readConfig } from "../../../src/config.ts";
import { MAX_UNREAD_BYTES } from "../../../src/net/unread.ts";
import { page, ROOT } from "../markdown.ts";
import { parseYaml, yamlDocument, yamlFile, yamlFilesIn } from "./files.ts";
import type { Manifest, Workload } from "./manifests.ts";
import { mistakesOf, packageOf } from "./manifests.ts";

const URL_FORM = "mysql://user:password@host:3306/database";

/** The memory of an idle gRPC connection over TLS, by docs/operations.md. */
function connectionBytes(): number {
  const [, kib] = /(\d+) KiB for gRPC over TLS/.exec(page("docs/operations.md")) ?? [];
  return Number(kib) * 1_024;
}

const FOLDERS = [
  "kubernetes/base",
  "kubernetes/components/prometheus-operator",
  "kubernetes/components/tls",
  "kubernetes/overlays/example",
];

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
}

describe.each(FOLDERS)("%s", (folder) => {
  const {
    resources = [],
    components = [],
    patches = [],
  } = yamlDocument<Kustomization>(`${folder}/kustomization.yaml`);
  const named = [...resources, ...components, ...patches.map(({ path }) => path)];

  it("names files and folders that exist", () => {
    const missing = named.filter((name) => !existsSync(join(ROOT, "deploy", folder, name)));
    expect(missing).toEqual([]);
  });

  it("names every file of the folder", () => {
    const files = yamlFilesIn(folder).filter((name) => name !== "kustomization.yaml");
    expect(files.filter((name) => !named.includes(name))).toEqual([]);
  });
});

/** kubectl's `kustomize` neither needs nor asks a cluster. */
const kubectl = findProgram("kubectl");
const kustomize = findProgram("kustomize");

/** What would be applied: the base as it is written, and the example as kustomize builds it. */
const sets: [name: string, manifests: () => Manifest[]][] = [
  ["the base", () => manifestsIn("kubernetes/base")],
  ["the PodMonitor", () => manifestsIn("kubernetes/components/prometheus-operator")],
];
if (kubectl !== undefined || kustomize !== undefined) {
  sets.push(["the example, built", () => build("kubernetes/overlays/example")]);
}

function manifestsIn(folder: string): Manifest[] {
  const { resources = [] } = yamlDocument<Kustomization>(`${folder}/kustomization.yaml`);
  return resources.flatMap((name) => yamlFile<Manifest>(`${folder}/${name}`));
}

function build(folder: string): Manifest[] {
  const [program, ...args] = kustomize ? [kustomize, "build"] : [kubectl ?? "", "kustomize"];
  return parseYaml(
    execFileSync(program, [...args, join(ROOT, "deploy", folder)], {
      encoding: "utf8",
      env: { ...process.env, KUBECONFIG: "/dev/null" },
    }),
  );
}

describe.each(sets)("%s", (_, read) => {
  const manifests = read();

  it("is valid by the schemas", async () => {
    for (const manifest of manifests) {
      expect(await mistakesOf(manifest), `${manifest.kind} ${manifest.metadata.name}`).toEqual([]);
    }
  });

  it("has no field that Kubernetes does not know", () => {
    // The schemas allow further fields; the types that are made of them do not.
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

  const workloads = manifests.filter(({ kind }) => /^(Deployment|Job)$/.test(kind)) as Workload[];

  it("runs nothing as root, with a writable root, more privileges, or a token", () => {
    for (const { metadata, spec } of workloads) {
      const pod = spec.template.spec;
      expect(pod, metadata.name).toMatchObject({
        automountServiceAccountToken: false,
        // So that SIGTERM ends a process that does not handle it yet: process 1 would ignore it.
        shareProcessNamespace: true,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 1000,
          seccompProfile: { type: "RuntimeDefault" },
        },
      });
      for (const { securityContext } of pod.containers) {
        expect(securityContext, metadata.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
      }
    }
  });

  it("gets the settings of the environment", () => {
    for (const { metadata, spec } of workloads) {
      for (const { envFrom = [] } of spec.template.spec.containers) {
        // kustomize adds a hash to the name.
        const names = envFrom.map(({ configMapRef }) => configMapRef.name);
        expect(names, metadata.name).toEqual([expect.stringMatching(/^revenue-settings/)]);
      }
    }
  });

  it("reads the database's URL from a file, and limits memory", () => {
    for (const { metadata, spec } of workloads) {
      for (const { env, resources, volumeMounts } of spec.template.spec.containers) {
        const file = env.find(({ name }) => name === "DATABASE_URL_FILE")?.value ?? "";
        const mounted = volumeMounts.map(({ mountPath }) => `${mountPath}/`);
        expect(
          mounted.some((path) => file.startsWith(path)),
          metadata.name,
        ).toBe(true);
        expect(env.map(({ name }) => name)).not.toContain("DATABASE_URL");
        expect(resources.limits?.memory, metadata.name).toMatch(/^\d+[MG]i$/);
      }
    }
  });
});

it("the rollups and the migration are started as in compose.yaml", () => {
  const { services } = yamlDocument<{
    readonly services: Readonly<Record<string, { readonly command?: readonly string[] }>>;
  }>("compose.yaml");
  const commandOf = (path: string) =>
    yamlDocument<Workload>(path).spec.template.spec.containers[0]?.command;
  expect(commandOf("kubernetes/base/rollup.yaml")).toEqual(services.rollup?.command);
  expect(commandOf("kubernetes/base/migrate.yaml")).toEqual(services.migrate?.command);
});

describe("the service", () => {
  const manifests = manifestsIn("kubernetes/base");
  const find = <T extends Manifest>(kind: string, name: string) =>
    manifests.find((one) => one.kind === kind && one.metadata.name === name) as T;
  const pod = find<Workload>("Deployment", "revenue").spec.template.spec;
  const [container] = pod.containers;
  const config = readConfig({ DATABASE_URL: URL_FORM });

  it("has the default ports", () => {
    const ports = container?.ports?.map(({ name, containerPort }) => [name, containerPort]) ?? [];
    expect(Object.fromEntries(ports)).toEqual({
      http: config.httpPort,
      grpc: config.grpcPort,
      admin: config.adminPort,
    });
  });

  it("has the memory for the connections that it accepts over TLS, and for unread responses", () => {
    const variables = container?.env.map(({ name, value }) => [name, value]) ?? [];
    const { maxConnections, maxConnectionsPerAddress } = readConfig({
      ...Object.fromEntries(variables),
      ...{ DATABASE_URL: URL_FORM, DATABASE_URL_FILE: "" },
    });
    const MIB = 1_048_576;
    const atRest = 220 * MIB;
    const forCalls = 128 * MIB;
    const limit = Number(/^(\d+)Gi$/.exec(container?.resources.limits?.memory ?? "")?.[1]) * 1_024;
    expect(
      atRest + forCalls + MAX_UNREAD_BYTES + maxConnections * connectionBytes(),
    ).toBeLessThanOrEqual(limit * MIB);
    expect(maxConnectionsPerAddress).toBeLessThan(maxConnections);
  });

  it("is killed only after it had the time to stop", () => {
    const stop = config.lameDuck + config.grace;
    expect((pod.terminationGracePeriodSeconds ?? 0) * 1_000).toBeGreaterThanOrEqual(stop + 3_000);
  });

  it("is started by the image's own command", () => {
    expect(container?.command).toBeUndefined();
  });

  it("opens no more connections than a database allows by default", () => {
    const { maxReplicas } = find<Manifest & { spec: { maxReplicas: number } }>(
      "HorizontalPodAutoscaler",
      "revenue",
    ).spec;
    // Of a replica: calls, keys, readiness, and the cancelling of queries. One replica more during a
    // rollout, the rollups, the migration.
    const replica = config.poolSize + 4 + 1 + 2;
    expect((maxReplicas + 1) * replica + 7 + 2).toBeLessThanOrEqual(151);
  });
});
