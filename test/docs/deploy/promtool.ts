/** promtool, Prometheus's own checker. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../markdown.ts";
import { findDebianProgram } from "./debian-program.ts";

/** promtool. It may have to be downloaded. */
export const findPromtool = () => findDebianProgram("prometheus", "usr/bin/promtool");

/** The result of promtool. */
export interface Checked {
  readonly passed: boolean;
  readonly output: string;
}

/** Runs promtool in `deploy/prometheus`. */
export function promtool(args: readonly string[], input = ""): Checked {
  const cwd = join(ROOT, "deploy/prometheus");
  const { path, env } = findPromtool();
  const run = spawnSync(path, args, {
    ...{ cwd, input, encoding: "utf8" as const },
    env: { ...process.env, ...env },
  });
  return { passed: run.status === 0, output: `${run.stdout}${run.stderr}` };
}
