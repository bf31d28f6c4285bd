/** The table of variables in docs/operations.md, `.env.example` and `src/config.ts` agree. */
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../../src/config.ts";
import { codeIn, rootFile, tableWith } from "./markdown.ts";

const URL_FORM = "mysql://user:password@host:3306/database";

const rows = tableWith("variable", "default", "").map(
  ([variable = "", fallback = "", words = ""]) => ({
    name: codeIn(variable)[0] ?? "",
    fallback: codeIn(fallback)[0],
    words,
  }),
);
const names = rows.map(({ name }) => name);

/** The variables that `readConfig` reads, in order. */
function variablesRead(): string[] {
  const read = new Set<string>();
  const environment = new Proxy<Record<string, string>>(
    {},
    {
      get(_, name) {
        read.add(String(name));
        return undefined;
      },
    },
  );
  expect(() => readConfig(environment)).toThrow(ConfigError);
  return [...read];
}

const example = parseEnv(rootFile(".env.example"));

it("the table and .env.example have the variables that are read", () => {
  expect(names).toEqual(variablesRead());
  expect(Object.keys(example).sort()).toEqual(names.toSorted());
});

it("the table and .env.example have the defaults that apply", () => {
  const { host, httpPort, grpcPort, logLevel } = readConfig({ DATABASE_URL: URL_FORM });
  const defaults = [host, httpPort, grpcPort, logLevel].map(String);
  expect(rows.map(({ fallback }) => fallback)).toEqual([undefined, ...defaults]);
  expect(names.slice(1).map((name) => example[name])).toEqual(defaults);
});

it(".env.example is valid as it is", () => {
  const { databaseUrl } = readConfig(example);
  expect(databaseUrl).toMatchObject({ user: "revenue", database: "revenue", port: 3306 });
});

describe("values in the table are accepted:", () => {
  const wordsOf = (name: string) => codeIn(rows.find((row) => row.name === name)?.words ?? "");

  it.each(wordsOf("LOG_LEVEL"))("LOG_LEVEL %s", (level) => {
    const config = readConfig({ DATABASE_URL: URL_FORM, LOG_LEVEL: level });
    expect(config.logLevel).toBe(level);
  });

  const [form = "", firstMode = "", ...otherModes] = wordsOf("DATABASE_URL");

  it(`DATABASE_URL ${form}`, () => {
    expect(form).toBe(URL_FORM);
    expect(readConfig({ DATABASE_URL: form }).databaseUrl.ssl).toBeUndefined();
  });

  it.each([
    firstMode,
    ...otherModes
      .filter((mode) => /^VERIFY_/.test(mode))
      .map((mode) => firstMode.replace(/=.*/, `=${mode}`)),
  ])("DATABASE_URL with %s, which encrypts", (parameter) => {
    expect(parameter).toMatch(/^\?ssl-mode=/);
    const { databaseUrl } = readConfig({ DATABASE_URL: URL_FORM + parameter });
    expect(databaseUrl.ssl).toBeDefined();
  });

  it.each(["HTTP_PORT", "GRPC_PORT"])("%s 0", (name) => {
    expect(rows.find((row) => row.name === name)?.words).toMatch(/; 0 picks a free one$/);
    expect(() => readConfig({ DATABASE_URL: URL_FORM, [name]: "0" })).not.toThrow();
  });
});
