/** No command in the README goes untried: each is run by a test, or stands here with the reason. */
import { describe, expect, it } from "vitest";
import { codeIn, commands, isRequest, named, readme } from "../readme.ts";

/** Who runs which commands of the `console` blocks. */
const RUN: readonly (readonly [command: RegExp, where: string])[] = [
  [/^(curl|npx buf curl) /, "requests.test.ts"],
  [/^npm run key -- (create|list|revoke) /, "keys.test.ts"],
  [/^npm run key -- list$/, "keys.test.ts"],
  [/^npm run rollup -- --watch \d+$/, "accounts.test.ts"],
  [/^npm run demo$/, "demo.test.ts"],
  [/^npm test$/, "it is what runs this: .ci/run does, from a fresh clone"],
];

/** Who runs the commands that the text names. */
const NAMED: Readonly<Record<string, string>> = {
  "npm run demo": "demo.test.ts",
  "npm test": "it is what runs this: .ci/run does, from a fresh clone",
  "npm start": "accounts.test.ts, container.test.ts",
  "npm run migrate": "accounts.test.ts",
  "npm run seed": "accounts.test.ts",
  "npm run key": "keys.test.ts, accounts.test.ts",
  "npm run rollup": "accounts.test.ts",
  "npm run bench": "bench/benchmarks.test.ts, on next to nothing: it measures for minutes",
  "npm run bench -- peers": "bench/benchmarks.test.ts, the same",
  "npm run bench -- scale": "bench/benchmarks.test.ts, the same",
  "npm run generate": "it writes gen/; `npm run check` makes the same code and compares",
  "npm run check": "it is run before the tests by .ci/run",
  "npm ci --omit=dev && npm run migrate && npm start":
    "its parts are run; the first needs the registry, and container.test.ts starts with what it installs",
  "node --env-file": "configuration.test.ts reads .env.example as it does",
  "buf curl": "requests.test.ts",
};

describe("of the console blocks", () => {
  it.each(named(commands))("%s", (_, { text }) => {
    expect(RUN.filter(([pattern]) => pattern.test(text))).toHaveLength(1);
  });

  it("each request is one that is run", () => {
    expect(commands.filter(({ text }) => isRequest(text)).length).toBeGreaterThan(6);
  });
});

it("of the text, each is known here", () => {
  const prose = readme.replaceAll(/^```[\s\S]*?^```$/gm, "");
  const isCommand = (code: string) => /^(npm|npx|node|buf|curl) /.test(code);
  const found = new Set(codeIn(prose).filter(isCommand));
  expect([...found].filter((command) => !(command in NAMED))).toEqual([]);
});
