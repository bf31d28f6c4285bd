/** The image of the Dockerfile, without Docker: its files in a folder that every user can read. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { npmProgram } from "../commands/npm-process.ts";
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
  /** A home that the user of the image can write to. */
  readonly home: string;
  readonly node: string;
  readonly npm: string;
  remove(): void;
}

/** Puts the files of the image into a folder: the copied ones, production packages, Node and npm. */
export function buildImage(uid: number | undefined): Image {
  const folder = mkdtempSync(join(tmpdir(), "readme-container-"));
  const app = join(folder, "app");
  for (const name of copied()) cpSync(join(ROOT, name), join(app, name), { recursive: true });
  for (const path of productionPackages()) {
    cpSync(join(ROOT, path), join(app, path), { recursive: true, dereference: true });
  }
  // Node and npm may lie in root's home, which an unprivileged user cannot read.
  const node = join(folder, "bin/node");
  cpSync(process.execPath, node);
  const npm = join(folder, "npm");
  cpSync(dirname(dirname(npmProgram())), npm, { recursive: true });
  const home = join(folder, "home");
  mkdirSync(home);
  execFileSync("chmod", ["-R", "a+rX", folder]);
  if (uid !== undefined) execFileSync("chown", [`${uid}:${uid}`, home]);
  return {
    app,
    home,
    node,
    npm: join(npm, "bin/npm-cli.js"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
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
