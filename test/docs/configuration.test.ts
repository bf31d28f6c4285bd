/** The tables of variables and limits in docs/operations.md, `.env.example` and `src/config.ts` agree. */
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { ConfigError, readConfig } from "../../src/config.ts";
import { limitValue, settingRows } from "./limit-rows.ts";
import { codeIn, rootFile, tableWith } from "./markdown.ts";

const URL_FORM = "mysql://user:password@host:3306/database";

const rows = tableWith("variable", "default", "").map(
  ([variable = "", fallback = "", words = ""]) => ({
    name: codeIn(variable)[0] ?? "",
    fallback: codeIn(fallback)[0] ?? "",
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

/** The default of each variable. The fields of the configuration have the order of the variables. */
const defaults = new Map(
  Object.values(readConfig({ DATABASE_URL: URL_FORM })).map((value, index) => [
    variablesRead()[index] ?? "",
    value,
  ]),
);

const example = parseEnv(rootFile(".env.example"));

it("the tables and .env.example have the variables that are read", () => {
  const documented = [...names, ...settingRows.map(({ variable }) => variable)];
  expect(documented.toSorted()).toEqual(variablesRead().toSorted());
  expect(Object.keys(example).sort()).toEqual(variablesRead().toSorted());
});

it("the first table and .env.example have the defaults that apply", () => {
  const text = (name: string) => String(defaults.get(name) ?? "");
  for (const { name, fallback } of rows.slice(1)) expect(fallback, name).toBe(text(name));
  for (const name of variablesRead().slice(1)) expect(example[name], name).toBe(text(name));
});

it.each(settingRows.map((row) => [row.variable, row.value] as const))(
  "the table of limits has the default of %s",
  (variable, value) => {
    expect(limitValue(value)).toBe(defaults.get(variable));
  },
);

it.each(settingRows.map((row) => [row.variable, row.range] as const))(
  "the table of limits has the range of %s",
  (name, range) => {
    const words = codeIn(range);
    const expected = words.length > 0 ? `one of ${words.join(", ")}` : `from ${range}`;
    const environment = { DATABASE_URL: URL_FORM, [name]: "x" };
    expect(() => readConfig(environment)).toThrow(expected.replace(/(?<=\d),(?=\d)/g, ""));
  },
);

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

  it.each(wordsOf("TRUSTED_PROXIES").filter((word) => /^[\d.:/,]+$/.test(word)))(
    "TRUSTED_PROXIES %s",
    (networks) => {
      const config = readConfig({ DATABASE_URL: URL_FORM, TRUSTED_PROXIES: networks });
      expect(config.trustedProxies).toEqual(networks.split(","));
    },
  );

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

  it.each(["HTTP_PORT", "GRPC_PORT", "ADMIN_PORT"])("%s 0", (name) => {
    expect(rows.find((row) => row.name === name)?.words).toMatch(/; 0 picks a free one$/);
    expect(() => readConfig({ DATABASE_URL: URL_FORM, [name]: "0" })).not.toThrow();
  });
});
