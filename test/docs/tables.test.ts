/**
 * The tables of the documentation that people write are those of the code: metrics, commands, packages. Those of
 * settings, limits, errors and columns are made of the code (dev/generated-docs.ts).
 */
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { environmentExample } from "../../dev/tables/settings.ts";
import { ROLLUP_FLAGS } from "../../src/cli/rollup-flags.ts";
import { readConfig, VARIABLES } from "../../src/config.ts";
import { parseExposition } from "../support/telemetry/exposition.ts";
import { codeIn, commands, rootFile, tableWith } from "./markdown.ts";
import { metricTexts } from "./metrics.ts";

const manifest: Record<"dependencies" | "scripts", Record<string, string>> = JSON.parse(
  rootFile("package.json"),
);

it("docs/operations.md names all metrics, with their labels, and no other", async () => {
  const shown = tableWith("subject", "metrics").flatMap(([, cell = ""]) => codeIn(cell));
  const documented = shown.filter((name) => /^(rpc|http|db|revenue)_/.test(name));
  const { service, rollup } = await metricTexts();
  const real = [...parseExposition(service), ...parseExposition(rollup)]
    .filter(([name]) => !/^(nodejs|process)_/.test(name))
    .map(([name, { samples }]) => {
      const labels = Object.keys(samples[0]?.labels ?? {}).filter((label) => label !== "le");
      return labels.length === 0 ? name : `${name}{${labels.sort().join(",")}}`;
    });
  expect(new Set(documented)).toEqual(new Set(real));
});

it(".env.example has each variable once, is valid, and has the defaults", () => {
  const text = environmentExample();
  const names = [...Object.values(VARIABLES), ...ROLLUP_FLAGS].map(({ name }) => name);
  expect(text.match(/^\w+(?==)/gm)).toEqual(names);
  const { DATABASE_URL, ...example } = parseEnv(text);
  expect(readConfig({ DATABASE_URL, ...example })).toEqual(readConfig({ DATABASE_URL }));
});

it("the README lists the scripts, and no other; those for an old Node start with plain JavaScript", () => {
  const { scripts } = manifest;
  /** `npm start` and `npm test` are scripts too. */
  const scriptOf = (command: string) => command.match(/\bnpm (?:run )?([\w-]+)/)?.[1] ?? "";
  const listed = tableWith("command", "does").flatMap(([cell = ""]) => codeIn(cell).map(scriptOf));
  expect(listed.filter((name) => !(name in scripts))).toEqual([]);
  const known = [...listed, ...commands.map(({ text }) => scriptOf(text)), "version"];
  const hooks = Object.keys(scripts).flatMap((name) => [`pre${name}`, `post${name}`]);
  const unknown = Object.keys(scripts).filter((name) => ![...known, ...hooks].includes(name));
  expect(unknown).toEqual([]);
  for (const name of ["demo", "test", "check"]) {
    expect(scripts[`pre${name}`] ?? scripts[name]).toMatch(/^node dev\/install\.js\b/);
  }
});

it("CONTRIBUTING.md has a reason for each dependency, and names no other package", () => {
  const rows = tableWith("package", "why");
  const documented = rows.flatMap(([packages = ""]) => {
    const [first = "", ...others] = codeIn(packages);
    // `-node` after `@connectrpc/connect` is `@connectrpc/connect-node`.
    return [first, ...others.map((name) => (name.startsWith("-") ? first + name : name))];
  });
  expect(documented.sort()).toEqual(Object.keys(manifest.dependencies).sort());
  expect(rows.filter(([, why]) => !why)).toEqual([]);
});
