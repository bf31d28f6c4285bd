/** Every command in the documentation is run by a test, or is listed here with the reason why not. */
import { describe, expect, it } from "vitest";
import { codeIn, commands, isRequest, named, pages, proseOf } from "../markdown.ts";

/** By which test the commands of the `console` blocks are run. */
const RUN: readonly (readonly [command: RegExp, where: string])[] = [
  [/^(curl|npx buf curl) /, "requests.test.ts"],
  [/^npm run key -- (create|list|revoke)\b/, "keys.test.ts"],
  [/^npm run rollup -- --watch \d+$/, "accounts.test.ts"],
  [/^npm run demo$/, "demo.test.ts"],
  [
    /^(MYSQLD=\S+ )?npm test$/,
    ".ci/run, from a fresh clone, on MariaDB and on MySQL; here it would run itself",
  ],
  [/^npm test -- (--project unit|test\/\S+)$/, "commands-table.test.ts; here it would run itself"],
  [/^(SOAK=\d+ )?npm run soak$/, "on request: it takes long; its test is part of npm test"],
  [/^npm run check$/, ".ci/run, before the tests"],
  [/^npm run (format|generate)$/, "npm run check compares what they would write"],
];

/** By which test the commands in the text are run. */
const NAMED: Readonly<Record<string, string>> = {
  "npm run demo": "demo.test.ts",
  "npm test": ".ci/run, from a fresh clone",
  "npm start": "accounts.test.ts, container.test.ts",
  "npm run migrate": "accounts.test.ts",
  "npm run migrate -- --unlock": "test/end-to-end/cli/migrate.test.ts",
  "npm run seed": "accounts.test.ts",
  "npm run key": "keys.test.ts, accounts.test.ts",
  "npm run key -- create --provider 1": "accounts.test.ts",
  "npm run key -- list": "keys.test.ts",
  "npm run key -- revoke": "keys.test.ts",
  "npm run rollup": "accounts.test.ts",
  "npm run rollup -- --watch": "accounts.test.ts, with a number of seconds",
  "npm start -- --check": "test/end-to-end/lifecycle/check.test.ts",
  "npm run rollup -- --verify": "accounts.test.ts",
  "npm run rollup -- --verify --repair": "accounts.test.ts",
  "npm run rollup -- --watch 1": "rollup-admin.test.ts, with other seconds",
  "npm run rollup -- --watch 1 --margin 2": "rollup-admin.test.ts, with other seconds",
  "npm run bench": "benchmarks.test.ts, with next to no load: it measures for minutes",
  "npm run bench -- peers": "benchmarks.test.ts, the same",
  "npm run bench -- scale": "benchmarks.test.ts, the same",
  "npm run bench -- fleet": "benchmarks.test.ts, the same",
  "npm run bench -- backlog": "benchmarks.test.ts, the same",
  "npm run bench -- telemetry": "benchmarks.test.ts, the same",
  "npm run bench -- telemetry --seconds 3 --rounds 10 --connections 32":
    "benchmarks.test.ts, the same flags with smaller numbers",
  "npm run bench -- fleet --providers 3000 --seconds 10 --rounds 4 --connections 32":
    "benchmarks.test.ts, the same flags with smaller numbers",
  "npm run bench -- latency": "benchmarks.test.ts, the same",
  "npm run bench -- latency --seconds 5 --rounds 5 --providers 300":
    "benchmarks.test.ts, the same flags with smaller numbers",
  "npm run bench -- peers --seconds 3 --rounds 5 --connections 32 --providers 3000 --charges 500000":
    "benchmarks.test.ts, the same flags with smaller numbers",
  "npm run bench -- scale --charges 50000,500000,5000000 --requests 200":
    "benchmarks.test.ts, the same flags with smaller numbers",
  "npm run soak": "on request: it takes long; its test is part of npm test",
  "npm run generate": "npm run check generates the same code and compares",
  "npm run check": ".ci/run, before the tests",
  "npm run format": "npm run check compares what it would write",
  "npm ci --omit=dev && npm run migrate && npm start":
    "in parts; the first needs the registry, and container.test.ts starts with what it installs",
  "npm ci": ".ci/run, from a fresh clone",
  "npm version minor": "release.test.ts; it commits and tags",
  "npm sbom --sbom-format=cyclonedx": "npm run check lists the packages with it",
  "node --env-file=.env src/main.ts": "configuration.test.ts parses .env.example as it does",
  "buf curl": "requests.test.ts",
  "node src/cli/rollup.ts --watch 30": "accounts.test.ts, as npm run rollup -- --watch 30",
};

describe("in console blocks", () => {
  it.each(named(commands))("%s", (_, { text }) => {
    expect(RUN.filter(([pattern]) => pattern.test(text))).toHaveLength(1);
  });

  it("there are requests to paste", () => {
    expect(commands.filter(({ text }) => isRequest(text)).length).toBeGreaterThan(6);
  });
});

it("in the text, each command is listed here", () => {
  const prose = pages.map(({ text }) => proseOf(text)).join("\n");
  const isCommand = (code: string) => /^(npm|npx|node|buf|curl) /.test(code);
  const found = new Set(codeIn(prose).filter(isCommand));
  expect([...found].filter((command) => !(command in NAMED))).toEqual([]);
});

it("each command listed here is in the text", () => {
  const prose = new Set(pages.flatMap(({ text }) => codeIn(proseOf(text))));
  expect(Object.keys(NAMED).filter((command) => !prose.has(command))).toEqual([]);
});
