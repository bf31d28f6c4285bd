/** Page tokens: whoever has the key reads them, nobody else learns anything from them, and no other is accepted. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createPageTokens } from "../../../src/revenue/page-token.ts";

const secretOf = (seed: string) => createHash("sha256").update(seed).digest();
const SECRET = secretOf("a key");
const tokens = createPageTokens(SECRET);

const REQUEST = { list: "things", owner: "1", parameters: { startDate: "", endDate: "5" } };
const CHANGED = "(it was changed, is of another version, or belongs to another list or provider)";
const AT = "2026-11-20 09:30:00.000";

it.each([[AT, "1"], ["0000-00-00 00:00:00.000", "18446744073709551615"], [], ["", "é"]])(
  "the contents %s, %s are read from their token, also by another instance",
  (...contents) => {
    const token = tokens.write(REQUEST, contents);
    expect(token).toMatch(/^[\w-]+$/);
    expect(tokens.read(token, REQUEST)).toEqual(contents);
    // Of another instance; the same, as the entity tag of the page is the same.
    expect(createPageTokens(Buffer.from(SECRET)).read(token, REQUEST)).toEqual(contents);
    expect(createPageTokens(SECRET).write(REQUEST, contents)).toBe(token);
  },
);

it("the longest token has fewer than 300 characters", () => {
  const longest = "-62135596800000";
  const zone = "America/Argentina/ComodRivadavia";
  const parameters = { startDate: longest, endDate: longest, timeZone: zone };
  const request = { list: "charges", owner: "18446744073709551615", parameters };
  const contents = [longest, longest, AT, "18446744073709551615"];
  expect(tokens.write(request, contents).length).toBeLessThan(300);
});

it.each([
  [{ list: "others" }, CHANGED],
  [{ owner: "2" }, CHANGED],
  [{ parameters: { startDate: "", timeZone: "5" } }, CHANGED],
  [{ parameters: { startDate: "", endDate: "5", timeZone: "UTC" } }, CHANGED],
  [{ parameters: { startDate: "1", endDate: "5" } }, "(its startDate was another one)"],
])("a token is refused with %j", (other, reason) => {
  const token = tokens.write(REQUEST, [AT, "1"]);
  expect(() => tokens.read(token, { ...REQUEST, ...other })).toThrow(reason);
});

it("what the service never wrote, or with another key, is refused", () => {
  const never = [
    createPageTokens(secretOf("another key")).write(REQUEST, [AT, "1"]),
    // As 0.2.0 made them.
    Buffer.from(`${AT}/1`).toString("base64url"),
    ...[0, 11, 12, 28, 1_000].map((size) => Buffer.alloc(size).toString("base64url")),
  ];
  for (const token of never) expect(() => tokens.read(token, REQUEST), token).toThrow(CHANGED);
});

it("a token with any bit changed, cut off anywhere or gone on with is refused", () => {
  const bytes = Buffer.from(tokens.write(REQUEST, [AT, "1"]), "base64url");
  const refused = (changed: Buffer) =>
    expect(() => tokens.read(changed.toString("base64url"), REQUEST)).toThrow(CHANGED);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    refused(changed);
  }
  for (let length = 0; length < bytes.length; length++) refused(bytes.subarray(0, length));
  refused(Buffer.concat([bytes, bytes.subarray(0, 1)]));
});

it("a token tells nothing of the number of a row: the next one changes half of its bits, at every place", () => {
  const ids = Array.from({ length: 200 }, (_, nth) => 7_000_000_000n + BigInt(nth));
  const bytesOf = (id: bigint) => Buffer.from(tokens.write(REQUEST, [AT, String(id)]), "base64url");
  const changes: number[] = [];
  for (const id of ids) {
    const [one, other] = [bytesOf(id), bytesOf(id + 1n)];
    one.forEach((byte, at) => {
      for (let bit = 0; bit < 8; bit++) {
        const place = at * 8 + bit;
        changes[place] = (changes[place] ?? 0) + (((byte ^ (other[at] ?? 0)) >> bit) & 1);
      }
    });
  }
  // A bit that is the same in all of them, or differs in all, would be of the text.
  expect(Math.min(...changes)).toBeGreaterThan(50);
  expect(Math.max(...changes)).toBeLessThan(150);
});
