/** The API key in what a person pasted. */
import { expect, it } from "vitest";
import { generateKey } from "../../../src/auth/api-key.ts";
import { faultOfKey, keyIn } from "../../../web/src/key-text.ts";

const KEY = generateKey();
const [FIRST, SECOND] = [KEY.slice(0, 20), KEY.slice(20)];

it.each([
  ["as it is", KEY],
  ["with spaces around it", ` \t${KEY}\u00a0\u3000`],
  ["after a zero-width space", `\u200b${KEY}`],
  ["before a word joiner", `${KEY}\u2060`],
  ["with a soft hyphen where a line was broken", `${FIRST}\u00ad${SECOND}`],
  ["between marks of direction", `\u200e${KEY}\u200f`],
  ["within an isolate", `\u2066${KEY}\u2069`],
  ["after a byte order mark", `\ufeff${KEY}`],
  ["with zero-width characters within", `${FIRST}\u200c\u200d${SECOND}\ufe0f`],
  ["in quotes", `"${KEY}"`],
  ["in single quotes", `'${KEY}'`],
  ["in typographic quotes", `“${KEY}”`],
  ["in backticks", `\`${KEY}\``],
  ["after the scheme", `Bearer ${KEY}`],
  ["after the scheme in lower case, in quotes", `"bearer ${KEY}"`],
  ["as a header", `X-API-Key: ${KEY}`],
  ["as the other header", `Authorization: Bearer ${KEY}`],
  ["as a variable", `export REVENUE_API_KEY=${KEY}`],
  ["in JSON", `{"apiKey":"${KEY}"}`],
  ["at the end of a sentence", `The key is ${KEY}.`],
  ["twice the same", `${KEY}\n${KEY}`],
])("a key %s is taken", (_, text) => {
  expect(keyIn(text)).toBe(KEY);
});

it.each([
  ["nothing", ""],
  ["spaces", "  "],
  ["characters that nobody sees", "\u200b\u2060"],
  ["another text", "hunter2"],
  ["a scheme without a key", "Bearer "],
  ["the hint of a key", `${KEY.slice(0, 8)}…`],
  ["a key that lacks a character", KEY.slice(0, -1)],
  ["a key with one too many", `${KEY}x`],
  ["a key that something stands right before", `x${KEY}`],
  ["a key in capitals", KEY.toUpperCase()],
  ["a key with a letter of another alphabet", `${FIRST}а${SECOND.slice(1)}`],
  ["two different keys", `${KEY} ${generateKey()}`],
])("%s is no key", (_, text) => {
  expect(keyIn(text)).toBeUndefined();
});

/** A key of which a digit is another one. */
const changed = (at: number) =>
  KEY.slice(0, at) + (KEY[at] === "x" ? "y" : "x") + KEY.slice(at + 1);

it("the check digits of a key are those of the service, and one that is mistyped is told", () => {
  for (const key of Array.from({ length: 50 }, () => generateKey())) {
    expect(faultOfKey(`"${key}"`)).toBeUndefined();
  }
  expect(faultOfKey(`rvk_${"0".repeat(42)}10KzG5F`)).toBeUndefined();
  for (const at of [4, 30, KEY.length - 1]) {
    expect(faultOfKey(changed(at))?.title).toBe("This API key is mistyped");
  }
});

it.each([
  ["hunter2", "This is not an API key"],
  ["", "This is not an API key"],
  [KEY.slice(0, -1), "This is not an API key"],
  [`${KEY} ${generateKey()}`, "These are two API keys"],
  [generateKey("service"), "This is a service key"],
])("%s is told as what it is", (text, title) => {
  expect(faultOfKey(text)?.title).toBe(title);
});
