import { describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { readCredentials } from "../../../src/auth/credentials.ts";

const key = generateKey();
const other = generateKey();
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

describe("the key is read from", () => {
  it.each<[string, string[], string[]]>([
    ["X-API-Key", [key], []],
    ["X-API-Key with surrounding white space", [` \t${key}\t `], []],
    ["Authorization: Bearer", [], [`Bearer ${key}`]],
    ["Authorization: bearer", [], [`bearer ${key}`]],
    ["Authorization: BEARER", [], [`BEARER ${key}`]],
    ["Authorization: Bearer and several spaces", [], [`Bearer   ${key}`]],
    ["Authorization with surrounding white space", [], [`\t Bearer ${key} \t`]],
  ])("%s", (_, xApiKey, authorization) => {
    expect(readCredentials({ xApiKey, authorization })).toBe(key);
  });
});

describe("no key is read from", () => {
  it.each<[string, string[], string[]]>([
    ["neither header", [], []],
    ["both headers", [key], [`Bearer ${key}`]],
    ["both headers, Authorization empty", [key], [""]],
    ["both headers, X-API-Key empty", [""], [`Bearer ${key}`]],
    ["both headers, Authorization with another scheme", [key], ["Basic dXNlcjpwYXNz"]],
    ["X-API-Key twice", [key, key], []],
    ["X-API-Key twice, one of them empty", [key, ""], []],
    ["X-API-Key twice, joined", [`${key}, ${key}`], []],
    ["X-API-Key twice with different keys, joined", [`${key}, ${other}`], []],
    ["X-API-Key twice, joined, one of them empty", [`${key}, `], []],
    ["Authorization twice", [], [`Bearer ${key}`, `Bearer ${key}`]],
    ["Authorization twice, joined", [], [`Bearer ${key}, Bearer ${key}`]],
    ["an empty X-API-Key", [""], []],
    ["a blank X-API-Key", ["  "], []],
    ["an empty Authorization", [], [""]],
    ["X-API-Key with a scheme", [`Bearer ${key}`], []],
    ["X-API-Key in quotes", [`"${key}"`], []],
    ["X-API-Key with a no-break space", [`\u00a0${key}`], []],
    ["X-API-Key with a line break", [`${key}\n`], []],
    ["Authorization without a scheme", [], [key]],
    ["Authorization: Bearer without a key", [], ["Bearer"]],
    ["Authorization: Bearer and a space without a key", [], ["Bearer "]],
    ["Authorization: Bearer and the key without a space between", [], [`Bearer${key}`]],
    ["Authorization: Bearer and the key with a tab between", [], [`Bearer\t${key}`]],
    ["Authorization: Bearer with two keys", [], [`Bearer ${key} ${other}`]],
    ["Authorization: Bearer with a colon", [], [`Bearer: ${key}`]],
    ["Authorization: Bearer with a parameter", [], [`Bearer token="${key}"`]],
    ["Authorization: Basic", [], [`Basic ${key}`]],
    ["Authorization: Basic with the key as the user", [], [`Basic ${btoa(`${key}:`)}`]],
    ["Authorization: Token", [], [`Token ${key}`]],
    ["Authorization: ApiKey", [], [`ApiKey ${key}`]],
    ["a mistyped key", [mistyped], []],
    ["a mistyped bearer key", [], [`Bearer ${mistyped}`]],
    ["another service's key", ["ghp_16C7e42F292c6912E7710c838347Ae178B4a"], []],
    ["a key without its prefix", [key.slice(4)], []],
    ["the hint of a key", [key.slice(0, 8)], []],
    ["SQL", ["' OR 1=1 --"], []],
  ])("%s", (_, xApiKey, authorization) => {
    expect(readCredentials({ xApiKey, authorization })).toBeUndefined();
  });

  it("long headers, in linear time", () => {
    const started = performance.now();
    for (const filling of [" ", "\t", "a", "bearer ", "a ", " \t"]) {
      const long = filling.repeat(1e6);
      for (const text of [
        long,
        `${long}!`,
        `bearer${long}`,
        `bearer ${long}!`,
        `bearer a${long}!`,
      ]) {
        expect(readCredentials({ xApiKey: [text], authorization: [] })).toBeUndefined();
        expect(readCredentials({ xApiKey: [], authorization: [text] })).toBeUndefined();
      }
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
