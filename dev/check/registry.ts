/** Checks that ask the registry of npm. Where it does not answer they are not done, and say so. */
import { type CheckResult, runTool } from "./tool.ts";

/** So long may all answers of the registry take, in ms. npm itself waits five minutes for each. */
const PATIENCE = 60_000;

/** What npm prints once it has compared the signatures that the registry publishes. */
const AUDITED = /^audited \d+ packages?/m;

/** How the registry is asked. */
export interface RegistryOptions {
  /** Its URL; the one that npm is set to by default. */
  readonly registry?: string;
  /** When it counts as silent, in ms. */
  readonly patience?: number;
}

/** Checks the registry's signatures with `npm audit signatures`. */
export async function checkSignatures(options: RegistryOptions = {}): Promise<CheckResult> {
  const audit = await npmAudit(["signatures"], options);
  // Without it, the registry or the server of its keys is away or busy, or it publishes none.
  if (audit.outcome === "passed" || AUDITED.test(audit.output)) return audit;
  return { outcome: "NOT DONE", note: "the registry's keys cannot be had here", output: "" };
}

/**
 * Checks with `npm audit` whether there are advisories on the packages of production. High and critical ones fail; the
 * others are counted.
 */
export async function checkAdvisories(options: RegistryOptions = {}): Promise<CheckResult> {
  const audit = await npmAudit(["--omit=dev", "--json"], options);
  const { vulnerabilities, metadata } = reportIn(audit.output);
  if (vulnerabilities === undefined || metadata === undefined) {
    return { outcome: "NOT DONE", note: "the registry tells no advisories here", output: "" };
  }
  const { total, high, critical } = metadata.vulnerabilities;
  const output = Object.values(vulnerabilities)
    .map(({ name, severity, range }) => `${severity}: ${name} ${range}`)
    .join("\n");
  if (high + critical > 0)
    return { outcome: "failed", output: `${output}\nSee: npm audit --omit=dev` };
  return {
    outcome: "passed",
    note: total === 0 ? "none" : `${total} below high: npm audit`,
    output,
  };
}

function npmAudit(
  args: readonly string[],
  { registry, patience = PATIENCE }: RegistryOptions,
): Promise<CheckResult> {
  const flags = ["--loglevel=error", "--fetch-retries=0"];
  if (registry !== undefined) flags.push(`--registry=${registry}`);
  return runTool("npm", ["audit", ...args, ...flags], { timeout: patience });
}

/** What `npm audit --json` prints, as far as it is needed. Without both fields it is an error of npm. */
interface AuditReport {
  readonly vulnerabilities?: Readonly<
    Record<string, { readonly name: string; readonly severity: string; readonly range: string }>
  >;
  readonly metadata?: {
    readonly vulnerabilities: Readonly<Record<"total" | "high" | "critical", number>>;
  };
}

function reportIn(output: string): AuditReport {
  try {
    return JSON.parse(output);
  } catch {
    return {};
  }
}
