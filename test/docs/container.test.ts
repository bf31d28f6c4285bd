/** The Dockerfile: its files are enough for the service, which is healthy by every check that is shipped. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createDatabase } from "../support/database.ts";
import { SEAT_BELT } from "../support/seat-belt.ts";
import { startService } from "../support/service/service-process.ts";
import { HAS_CURL } from "./commands/terminal.ts";
import { compose } from "./deploy/files.ts";
import { ROOT, rootFile } from "./markdown.ts";

const manifest = JSON.parse(rootFile("package.json"));

/** The arguments of the instructions of a name in the Dockerfile, in order. */
const instructionsOf = (name: string): string[] =>
  rootFile("Dockerfile").match(new RegExp(`(?<=^ *${name} ).*$`, "gm")) ?? [];

/** The files and folders that are copied into the image. */
const copied = instructionsOf("COPY").flatMap((rest) => rest.split(/\s+/).slice(0, -1));
const [healthCheck, command]: string[][] = instructionsOf("CMD").map((text) => JSON.parse(text));

it("a service of these files alone is ready by the checks of the image, of Compose and of systemd", async () => {
  const database = await createDatabase();
  onTestFinished(() => database.drop());
  const app = mkdtempSync(join(tmpdir(), "revenue-image-"));
  onTestFinished(() => rmSync(app, { recursive: true, force: true }));
  for (const path of copied) cpSync(join(ROOT, path), join(app, path), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(app, "node_modules"));
  const service = await startService(database.url, {}, app);
  onTestFinished(async () => void (await service.kill()));
  const [, ...ofCompose] = compose.services.service?.healthcheck?.test ?? [];
  const [, ofSystemd = ""] =
    /^ExecStartPost=(.*)$/m.exec(rootFile("deploy/systemd/revenue@.service")) ?? [];
  const checks = [healthCheck, ofCompose, ...(HAS_CURL ? [ofSystemd.split(" ")] : [])];
  /** What the checks say of a port. */
  const statesAt = (port: string) =>
    Promise.all(
      checks.map(async ([program = "", ...args] = []) => {
        const env = { ...process.env, ADMIN_PORT: port, NODE_OPTIONS: SEAT_BELT };
        // A check of what is away is asked once: `--retry 0`. The port may have these digits, too.
        const placed = args.map((arg) =>
          arg === "60" ? "0" : arg.replace(/946(4|%i)(?=\/)/, port),
        );
        const [code] = await once(spawn(program, placed, { env, stdio: "ignore" }), "exit");
        return code === 0;
      }),
    );
  expect(new Set(await statesAt(new URL(service.admin).port))).toEqual(new Set([true]));
  expect(new Set(await statesAt("1"))).toEqual(new Set([false]));
});

it("the Dockerfile starts what npm start does, with the files that Docker gets, the permissions of the units, and Node's tested major version", () => {
  expect(`exec ${command?.join(" ")}`).toBe(manifest.scripts.start);
  const environment = instructionsOf("ENV").at(-1);
  expect(environment).toContain('NODE_OPTIONS="--permission --allow-net ');
  expect(environment).not.toMatch(/write|child|worker|addon|inspector/);
  const admitted = rootFile(".dockerignore").match(/(?<=^!).*$/gm) ?? [];
  expect(admitted.sort()).toEqual(copied.toSorted());
  const [major] = manifest.devDependencies.node.split(".");
  expect(instructionsOf("ARG")).toEqual([`NODE=${major}`]);
  expect(manifest.engines.node).toBe(`>=${major}`);
  expect(instructionsOf("USER")).toEqual(["node"]);
});
