/** The TypeScript client as npm publishes it: built, packed, installed elsewhere, and its README. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { blocksOf, ROOT, rootFile } from "../../docs/markdown.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";

const SOURCE = join(ROOT, "clients/typescript");
/** A project of a user, in which the packed client is installed. */
const project = mkdtempSync(join(tmpdir(), "revenue-client-"));

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture(smallLedger);
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", project], {
    cwd: SOURCE,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf("[")));
  const modules = join(project, "node_modules");
  mkdirSync(modules);
  execFileSync("tar", ["-xzf", join(project, filename), "-C", modules]);
  execFileSync("mv", [join(modules, "package"), join(modules, "revenue-service-client")]);
  for (const scope of ["@bufbuild", "@connectrpc", "@types", "undici-types"]) {
    symlinkSync(join(ROOT, "node_modules", scope), join(modules, scope));
  }
});
afterAll(async () => {
  rmSync(project, { recursive: true, force: true });
  await fixture?.dispose();
});

const [example = "", handling = ""] = blocksOf(rootFile("clients/typescript/README.md"))
  .filter(({ language }) => language === "ts")
  .map(({ text }) => text);

it("the README's example compiles and prints the ledger's digits", async () => {
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(project, "example.ts"),
    example.replace("https://revenue.example.com", fixture.service.http),
  );
  writeFileSync(
    join(project, "errors.ts"),
    `import { createRevenueClient } from "revenue-service-client";\n` +
      `const client = createRevenueClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k" });\n${handling}`,
  );
  const flags = "--noEmit --strict --module nodenext --target es2022 --types node --lib es2022,dom";
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  execFileSync(tsc, [...flags.split(" "), "example.ts", "errors.ts"], { cwd: project });
  const printed = execFileSync(process.execPath, ["example.ts"], {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, REVENUE_API_KEY: fixture.key },
  });
  expect(printed.split("\n").slice(0, 2)).toEqual(["balance 1250.50", "alpha 4050.04"]);
});

it("the example in examples/typescript prints the ledger's digits", async () => {
  writeFileSync(join(project, "revenue.ts"), rootFile("examples/typescript/revenue.ts"));
  const printed = execFileSync(process.execPath, ["revenue.ts"], {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, REVENUE_URL: fixture.service.http, REVENUE_API_KEY: fixture.key },
  });
  expect(printed).toMatch(/^earnings this year: 0\.00\nbalance: 1250\.50\n {10}0\.00 {2}alpha\n/);
});

it.each([
  ["", /^baseUrl is empty; .*\n$/],
  ["http://127.0.0.1:1", /^the service cannot be reached\n$/],
])("the example prints no request id if it has none: REVENUE_URL='%s'", (url, expected) => {
  const { status, stderr } = spawnSync(process.execPath, ["revenue.ts"], {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, REVENUE_URL: url, REVENUE_API_KEY: fixture.key },
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(expected);
});
