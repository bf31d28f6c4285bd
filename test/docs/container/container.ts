/** The image of the Dockerfile, without Docker: its files in a folder that every user can read. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Ending } from "../../support/service/service-process.ts";
import { terminalEnvironment } from "../commands/terminal.ts";
import { ROOT, rootFile } from "../markdown.ts";

/** The instructions of the Dockerfile, in order. */
export const instructions: readonly (readonly [name: string, rest: string])[] = rootFile(
  "Dockerfile",
)
  .split("\n")
  .flatMap((line) => {
    const [, name, rest] = line.match(/^([A-Z]+) (.*)$/) ?? [];
    return name === undefined || rest === undefined ? [] : [[name, rest] as const];
  });

/** The arguments of the instructions of a name. */
export function instructionsOf(name: string): string[] {
  return instructions.filter(([each]) => each === name).map(([, rest]) => rest);
}

/** The files and folders that are copied into the image. */
export function copied(): string[] {
  return instructionsOf("COPY").flatMap((rest) => rest.split(/\s+/).slice(0, -1));
}

export interface Image {
  /** `WORKDIR`. */
  readonly app: string;
  readonly node: string;
  remove(): void;
}

/** Puts the files of the image into a folder: the copied ones, production packages and Node. */
export function buildImage(): Image {
  const folder = mkdtempSync(join(tmpdir(), "readme-container-"));
  const app = join(folder, "app");
  for (const name of copied()) cpSync(join(ROOT, name), join(app, name), { recursive: true });
  for (const path of productionPackages()) {
    cpSync(join(ROOT, path), join(app, path), { recursive: true, dereference: true });
  }
  // Node may lie in root's home, which an unprivileged user cannot read.
  const node = join(folder, "bin/node");
  cpSync(process.execPath, node);
  execFileSync("chmod", ["-R", "a+rX", folder]);
  return { app, node, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A running container, so to speak: its first process. */
export interface Container {
  /** The id of the first process, which is also that of its group. */
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /** Everything written so far. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** Kills the whole group if it still exists. */
  kill(): void;
}

/** Runs `CMD` in the folder of the image, as a user that cannot write to it. */
export function runImage(
  { app, node }: Image,
  uid: number | undefined,
  environment: Readonly<Record<string, string>>,
): Container {
  const [program = "", ...args]: string[] = JSON.parse(instructionsOf("CMD")[0] ?? "[]");
  const child: ChildProcess = spawn(program, args, {
    cwd: app,
    env: terminalEnvironment({ ...environment, PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: "/" }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  const { pid } = child;
  if (pid === undefined) throw new Error(`${program} cannot be started`);
  return {
    pid,
    ended: once(child, "close").then(([code, signal]): Ending => code ?? signal),
    output,
    kill() {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // the group has ended
      }
    },
  };
}

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** The folders of the packages that `npm ci --omit=dev` installs. */
function productionPackages(): string[] {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    rootFile("package-lock.json"),
  );
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== "" && !dev)
    .filter(([path, { optional }]) => !optional || existsSync(join(ROOT, path)))
    .map(([path]) => path)
    .filter((path, _, all) => !all.some((outer) => path.startsWith(`${outer}/`)));
}
