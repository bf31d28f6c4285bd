/** The Dockerfile: its files are enough for an unprivileged user to start the service, which stops in order. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { issueKey } from "../../src/auth/key-registry.ts";
import { readConfig } from "../../src/config.ts";
import { rawHttp } from "../support/clients/raw-http.ts";
import { createDatabase } from "../support/database.ts";
import { poll, until } from "../support/poll.ts";
import { paths, withKey } from "../support/request.ts";
import { smallLedger } from "../support/small-ledger.ts";
import { isGroupLeft } from "./commands/processes.ts";
import { terminalEnvironment } from "./commands/terminal.ts";
import { compose } from "./deploy/files.ts";
import { ROOT, rootFile } from "./markdown.ts";

const manifest = JSON.parse(rootFile("package.json"));

/** The user nobody if the test runs as root; any other user is unprivileged already. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined;

/** The arguments of the instructions of a name in the Dockerfile, in order. */
function instructionsOf(name: string): string[] {
  return rootFile("Dockerfile").match(new RegExp(`(?<=^${name} ).*$`, "gm")) ?? [];
}

/** The files and folders that are copied into the image. */
function copied(): string[] {
  return instructionsOf("COPY").flatMap((rest) => rest.split(/\s+/).slice(0, -1));
}

/** The image, without Docker: a folder that every user can read, with the copied files, production packages and Node. */
function buildImage(): { readonly app: string; readonly node: string } {
  const folder = mkdtempSync(join(tmpdir(), "readme-container-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const app = join(folder, "app");
  mkdirSync(app);
  const files = [...copied(), ...productionPackages()];
  execFileSync("cp", ["-RL", "--parents", ...files, app], { cwd: ROOT });
  // Node may lie in root's home, which an unprivileged user cannot read.
  const node = join(folder, "bin/node");
  cpSync(process.execPath, node);
  execFileSync("chmod", ["-R", "a+rX", folder]);
  return { app, node };
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

/** The permissions of Node in the image, in the folder of this test. */
function permissions(app: string): string {
  const [options = ""] = /(?<=^ENV NODE_OPTIONS=").*(?="$)/m.exec(rootFile("Dockerfile")) ?? [];
  expect(options).toMatch(/^--permission --allow-net /);
  expect(options).not.toMatch(/write|child|worker|addon|inspector/);
  return options.replace("/app/", `${app}/`);
}

/** The exit codes of the health checks of the image and of compose.yaml at a port. */
function healthAt(node: string, port: unknown, options: string): (number | null)[] {
  const ofImage = [
    "CMD",
    ...JSON.parse(rootFile("Dockerfile").match(/(?<=^ +CMD ).*$/m)?.[0] ?? ""),
  ];
  const ofCompose = compose.services.service?.healthcheck?.test ?? [];
  return [ofImage, ofCompose].map(([how, program, ...args]) => {
    expect([how, program]).toEqual(["CMD", "node"]);
    const env = { ...process.env, ADMIN_PORT: `${port}`, NODE_OPTIONS: options };
    return spawnSync(
      node,
      args.map((arg) => arg.replace(":9464/", `:${port}/`)),
      { env },
    ).status;
  });
}

it("the command of the image answers as an unprivileged user, is healthy, and stops in order at SIGTERM", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  await smallLedger(database);
  const { key } = await issueKey(database.knex, "1", "test", null);
  const { app, node } = buildImage();
  const [program = "", ...args]: string[] = JSON.parse(instructionsOf("CMD")[0] ?? "[]");
  expect(manifest.scripts.start).toBe(`exec ${[program, ...args].join(" ")}`);
  const child: ChildProcess = spawn(program, args, {
    cwd: app,
    env: terminalEnvironment({
      ...{ PATH: `${dirname(node)}:/usr/bin:/bin`, HOME: "/", NODE_ENV: "production" },
      ...{ DATABASE_URL: database.url, HTTP_PORT: "0", GRPC_PORT: "0", ADMIN_PORT: "0" },
      ...{ STOP_LAME_DUCK_MS: "0", NODE_OPTIONS: permissions(app) },
    }),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const { pid = 0 } = child;
  onTestFinished(() => {
    if (isGroupLeft(pid)) process.kill(-pid, "SIGKILL");
  });
  const ended = once(child, "close");
  const output = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      output[stream] += text;
    });
  }
  const log = (): Record<string, unknown>[] =>
    output.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  const { httpPort, adminPort } = await poll(() => {
    if (!isGroupLeft(pid)) throw new Error(`the service ended:\n${output.stderr}`);
    return log().find(({ msg }) => msg === "listening");
  });
  const url = `http://127.0.0.1:${httpPort}`;
  const response = await rawHttp(url, { target: paths.GetOverview, headers: withKey(key) });
  expect(response).toMatchObject({ status: 200 });
  const options = permissions(app);
  expect([healthAt(node, adminPort, options), healthAt(node, 1, options)]).toEqual([
    [0, 0],
    [1, 1],
  ]);
  // It is Node itself, which gets the signal, and no shell.
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  expect(command).toEqual([program, ...args]);
  process.kill(pid, "SIGTERM");
  expect(await ended).toEqual([0, null]);
  await until(() => !isGroupLeft(pid));
  expect(log().at(-1)).toMatchObject({ msg: "stopped" });
  expect(output.stderr).toBe("");
});

it("the Dockerfile has the newest Node of the major version that is tested, or the one asked for, the licence, another user than root, and the default ports", () => {
  const admitted = rootFile(".dockerignore").match(/(?<=^!).*$/gm) ?? [];
  expect(admitted.sort()).toEqual(copied().sort());
  const { node } = manifest.devDependencies;
  expect(node).toMatch(/^\d+\.\d+\.\d+$/);
  const [major] = node.split(".");
  expect(instructionsOf("ARG")).toEqual([`NODE=${major}`]);
  expect(instructionsOf("FROM")).toEqual(["node:$NODE-slim"]);
  expect(manifest.engines.node).toBe(`>=${major}`);
  expect(instructionsOf("LABEL")).toEqual([
    `org.opencontainers.image.licenses=${manifest.license}`,
  ]);
  expect(instructionsOf("USER")).toEqual(["node"]);
  const { httpPort, grpcPort, adminPort } = readConfig({ DATABASE_URL: "mysql://u:p@h/d" });
  expect(instructionsOf("EXPOSE")).toEqual([`${httpPort} ${grpcPort} ${adminPort}`]);
  expect(instructionsOf("ENV").join(" ")).toContain("HOST=::");
});
