/** The Dockerfile: its files are enough for an unprivileged user to start the service, which stops in order. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { issueKey } from "../../../src/auth/key-registry.ts";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { poll, until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { isGroupLeft } from "../commands/processes.ts";
import { page, rootFile, tableWith } from "../markdown.ts";
import {
  buildImage,
  type Container,
  copied,
  type Image,
  instructionsOf,
  runImage,
} from "./container.ts";

const manifest = JSON.parse(rootFile("package.json"));

/** The user nobody if the test runs as root; any other user is unprivileged already. */
const uid = process.getuid?.() === 0 ? 65_534 : undefined;

describe("the command of the image", () => {
  let database: TestDatabase;
  let image: Image;
  let started: Container;
  let key: string;

  beforeAll(async () => {
    database = await createDatabase();
    await smallLedger(database);
    key = (await issueKey(database.knex, "1", "test", null)).key;
    image = buildImage();
    started = runImage(image, uid, {
      NODE_ENV: "production",
      DATABASE_URL: database.url,
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      ADMIN_PORT: "0",
      STOP_LAME_DUCK_MS: "0",
    });
  });
  afterAll(async () => {
    started?.kill();
    image?.remove();
    await database?.drop();
  });

  const log = (): Record<string, unknown>[] =>
    started.output.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  it("answers", async () => {
    const { httpPort } = await poll(30_000, () => {
      if (!isGroupLeft(started.pid))
        throw new Error(`the service ended:\n${started.output.stderr}`);
      return log().find(({ msg }) => msg === "listening");
    });
    const { status, text } = await rawHttp(`http://127.0.0.1:${httpPort}`, {
      target: paths.GetOverview,
      headers: withKey(key),
    });
    expect({ status, text }).toMatchObject({ status: 200 });
  });

  it("is Node itself, started as by npm start", () => {
    const command = readFileSync(`/proc/${started.pid}/cmdline`, "utf8").split("\0").slice(0, -1);
    expect(manifest.scripts.start).toBe(`exec ${command.join(" ")}`);
  });

  it("SIGTERM to it stops the service in order, with code 0", async () => {
    process.kill(started.pid, "SIGTERM");
    expect(await started.ended).toBe(0);
    await until(5_000, () => !isGroupLeft(started.pid));
    expect(log().at(-1)).toMatchObject({ msg: "stopped" });
    expect(started.output.stderr).toBe("");
  });
});

describe("the Dockerfile", () => {
  it("copies exactly what .dockerignore admits", () => {
    const admitted = rootFile(".dockerignore").match(/(?<=^!).*$/gm) ?? [];
    expect(admitted.sort()).toEqual(copied().sort());
  });

  it("has the Node version of development", () => {
    const major = manifest.devDependencies.node.split(".")[0];
    expect(instructionsOf("FROM")).toEqual([`node:${major}-slim`]);
    expect(manifest.engines.node).toBe(`>=${major}`);
  });

  it("installs as docs/operations.md does, without development dependencies", () => {
    const [install, ...cleaning] = instructionsOf("RUN")[0]?.split(" && ") ?? [];
    expect(install).toBe("npm ci --omit=dev");
    expect(cleaning).toEqual(["rm -rf /root/.npm /tmp/*"]);
    expect(page("docs/operations.md")).toContain(`\`${install} && `);
  });

  it("runs as a user other than root", () => {
    expect(instructionsOf("USER")).toEqual(["node"]);
  });

  it("exposes the default ports, on every address", () => {
    const rows = tableWith("variable", "default", "meaning");
    const ports = rows.filter(([name]) => /_PORT/.test(name ?? "")).map(([, port]) => port);
    expect(instructionsOf("EXPOSE")).toEqual([ports.join(" ").replaceAll("`", "")]);
    expect(instructionsOf("ENV").join(" ")).toContain("HOST=0.0.0.0");
  });
});
