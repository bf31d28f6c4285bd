/** The API key in what a person pasted, on the page and in Swagger UI. */
import { expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { withPastedKey } from "../../../web/src/docs/pasted-key.ts";
import { faultOfKey, keyIn } from "../../../web/src/key-text.ts";

const KEY = generateKey();
const [FIRST, SECOND] = [KEY.slice(0, 20), KEY.slice(20)];

it.each([
  ["with spaces around it", ` \t${KEY}\u00a0\u3000`],
  ["with a soft hyphen where a line was broken", `${FIRST}\u00ad${SECOND}`],
  ["with zero-width characters within", `\ufeff${FIRST}\u200c\u2060${SECOND}\ufe0f`],
  ["in typographic quotes", `“${KEY}”`],
  ["after the scheme in lower case, in quotes", `"bearer ${KEY}"`],
  ["in JSON", `{"apiKey":"${KEY}"}`],
  ["at the end of a sentence, twice", `The key is ${KEY}.\n${KEY}`],
])("a key %s is taken", (_, text) => {
  expect(keyIn(text)).toBe(KEY);
});

it.each([
  ["nothing", ""],
  ["characters that nobody sees", "\u200b\u2060"],
  ["the hint of a key", `${KEY.slice(0, 8)}…`],
  ["a key with one too many", `${KEY}x`],
  ["a key that something stands right before", `x${KEY}`],
  ["a key with a letter of another alphabet", `${FIRST}а${SECOND.slice(1)}`],
])("%s is no key, and told as that", (_, text) => {
  expect(keyIn(text)).toBeUndefined();
  expect(faultOfKey(text)?.title).toBe("This is not an API key");
});

it("the check digits of a key are those of the service, and one that is mistyped is told", () => {
  expect(faultOfKey(`rvk_${"0".repeat(42)}10KzG5F`)).toBeUndefined();
  for (const at of [4, 30, KEY.length - 1]) {
    const mistyped = KEY.slice(0, at) + (KEY[at] === "x" ? "y" : "x") + KEY.slice(at + 1);
    expect(faultOfKey(mistyped)?.title).toBe("This API key is mistyped");
  }
});

it("two keys, and a key of a service, are told as what they are", () => {
  const two = `${KEY} ${generateKey()}`;
  expect([keyIn(two), faultOfKey(two)?.title]).toEqual([undefined, "These are two API keys"]);
  expect(faultOfKey(generateKey("service"))?.title).toBe("This is a service key");
});

it("a request of Swagger UI has the key alone, after the scheme if the header has one", () => {
  const headers = { Authorization: `Bearer "${KEY}"`, "x-api-key": `\u200b${KEY}`, accept: "*/*" };
  const right = { Authorization: `Bearer ${KEY}`, "x-api-key": KEY, accept: "*/*" };
  expect(withPastedKey({ headers })).toEqual({ headers: right });
  expect(withPastedKey({})).toEqual({});
});
