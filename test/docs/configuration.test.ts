/** `.env.example`, which `npm run generate` makes, is what the service and the rollups read. */
import { parseEnv } from "node:util";
import { expect, it } from "vitest";
import { settingsFiles } from "../../dev/settings.ts";
import { ROLLUP_FLAGS } from "../../src/cli/rollup-flags.ts";
import { readConfig, VARIABLES } from "../../src/config.ts";

const text = (await settingsFiles()).get(".env.example") ?? "";
const example = parseEnv(text);

it("it has each variable once", () => {
  const names = [...Object.values(VARIABLES), ...ROLLUP_FLAGS].map(({ name }) => name);
  expect(text.match(/^\w+(?==)/gm)).toEqual(names);
});

it("it is valid as it is, and has the defaults", () => {
  const { DATABASE_URL } = example;
  expect(readConfig(example)).toEqual(readConfig({ DATABASE_URL }));
});
