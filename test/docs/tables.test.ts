/**
 * The tables of the documentation that people write are those of the code: metrics and packages. Those of
 * settings, limits, errors and columns are made of the code (dev/generated-docs.ts).
 */
import { expect, it } from "vitest";
import { parseExposition } from "../support/telemetry/exposition.ts";
import { codeIn, rootFile, tableWith } from "./markdown.ts";
import { metricTexts } from "./metrics.ts";

const manifest: Record<"dependencies" | "devDependencies", object> = JSON.parse(
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

it.each([
  ["dependencies", "package"],
  ["devDependencies", "for development"],
] as const)("CONTRIBUTING.md has a reason for all %s, and no others", (kind, heading) => {
  const rows = tableWith(heading, "why");
  const documented = rows.flatMap(([packages = ""]) => {
    const [first = "", ...others] = codeIn(packages);
    // `-node` after `@connectrpc/connect` is `@connectrpc/connect-node`.
    return [first, ...others.map((name) => (name.startsWith("-") ? first + name : name))];
  });
  expect(documented.sort()).toEqual(Object.keys(manifest[kind]).sort());
  expect(rows.filter(([, why]) => !why)).toEqual([]);
});
