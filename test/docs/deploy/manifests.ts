/** Kubernetes manifests, and the schemas of their kinds. */

/** An object of the Kubernetes API. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** A Deployment or a Job: the fields that the tests look at. */
export interface Workload extends Manifest {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
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
  readonly securityContext: object;
}

/** The module with the schema and the type of a kind: `kubernetes-models/apps/v1`. */
export function packageOf({ apiVersion }: Manifest): string {
  return apiVersion.startsWith("monitoring.coreos.com/")
    ? `@kubernetes-models/prometheus-operator/${apiVersion}`
    : `kubernetes-models/${apiVersion}`;
}

type Model = new (manifest: Manifest) => { validate(): void };

/** What the schema of a manifest's kind says against it. */
export async function mistakesOf(manifest: Manifest): Promise<string[]> {
  const models: Record<string, Model | undefined> = await import(packageOf(manifest));
  const Kind = models[manifest.kind];
  if (Kind === undefined) return [`${manifest.apiVersion} has no kind ${manifest.kind}`];
  try {
    new Kind(manifest).validate();
    return [];
  } catch (error) {
    return [String(error)];
  }
}
