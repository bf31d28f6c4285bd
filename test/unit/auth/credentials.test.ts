import { describe, expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { readCredentials } from "../../../src/auth/credentials.ts";

const key = generateKey();
const mistyped = `${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`;

describe("the key is read from", () => {
  it.each<[string, string[], string[]]>([
    ["X-API-Key", [key], []],
    ["X-API-Key with surrounding white space", [` \t${key}\t `], []],
    ["Authorization: Bearer", [], [`Bearer ${key}`]],
    ["Authorization with surrounding white space", [], [`\t bearer   ${key} \t`]],
  ])("%s", (_, xApiKey, authorization) => {
    expect(readCredentials({ xApiKey, authorization })).toBe(key);
  });
});

describe("no key is read from", () => {
  it.each<[string, string[], string[]]>([
    ["neither header", [], []],
    ["both headers", [key], [`Bearer ${key}`]],
    ["X-API-Key twice", [key, key], []],
    ["X-API-Key with a no-break space", [`\u00a0${key}`], []],
    ["Authorization without a scheme", [], [key]],
    ["Authorization: Bearer and the key with a tab between", [], [`Bearer\t${key}`]],
    ["Authorization: Basic with the key as the user", [], [`Basic ${btoa(`${key}:`)}`]],
    ["a mistyped key", [mistyped], []],
  ])("%s", (_, xApiKey, authorization) => {
    expect(readCredentials({ xApiKey, authorization })).toBeUndefined();
  });

  // A pattern that takes quadratic time does not come to an end.
  it("long headers", () => {
    for (const filling of [" ", "a", "bearer ", " \t"]) {
      const long = filling.repeat(300_000);
      for (const text of [`${long}!`, `bearer ${long}!`, `bearer a${long}!`]) {
        expect(readCredentials({ xApiKey: [text], authorization: [] })).toBeUndefined();
        expect(readCredentials({ xApiKey: [], authorization: [text] })).toBeUndefined();
      }
    }
  });
});
