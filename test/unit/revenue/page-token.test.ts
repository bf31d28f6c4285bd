/** Page tokens: whoever has the key reads them, nobody else learns anything from them, and no other is accepted. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
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
    expect(createPageTokens(Buffer.from(SECRET)).read(token, REQUEST)).toEqual(contents);
  },
);

it("the same page has the same token, as its entity tag is the same", () => {
  expect(tokens.write(REQUEST, [AT, "1"])).toBe(createPageTokens(SECRET).write(REQUEST, [AT, "1"]));
});

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
  [{ parameters: { startDate: "", endDate: "" } }, "(its endDate was another one)"],
])("a token is refused with %j", (other, reason) => {
  const token = tokens.write(REQUEST, [AT, "1"]);
  expect(() => tokens.read(token, { ...REQUEST, ...other })).toThrow(reason);
});

it("a token of another key is refused", () => {
  const token = createPageTokens(secretOf("another key")).write(REQUEST, [AT, "1"]);
  expect(() => tokens.read(token, REQUEST)).toThrow(CHANGED);
});

it.each([
  // As 0.2.0 made them, and as they were before they were encrypted, with the right hash.
  Buffer.from(`${AT}/1`),
  Buffer.from(JSON.stringify(["1", "", "5", AT, "1", "kqmVfzPcXbGc1vqx"])),
  Buffer.alloc(0),
  Buffer.alloc(11),
  Buffer.alloc(12),
  Buffer.alloc(16),
  Buffer.alloc(28),
  Buffer.alloc(1_000),
])("what the service never wrote is refused: %s", (bytes) => {
  expect(() => tokens.read(bytes.toString("base64url"), REQUEST)).toThrow(CHANGED);
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

describe("a token tells nothing of the number of a row", () => {
  /** From the number of a row to the next one a day later, as a platform writes them, and at random. */
  const ids = Array.from({ length: 400 }, (_, nth) => {
    const random = createHash("sha256").update(`id ${nth}`).digest().readBigUInt64BE();
    return nth % 2 === 0 ? 7_000_000_000n + BigInt(nth) : random >> BigInt(nth % 60);
  });
  const bytesOf = (id: bigint) => Buffer.from(tokens.write(REQUEST, [AT, String(id)]), "base64url");

  /** A number in the ways in which it could stand in a text. */
  function encodingsOf(id: bigint): Buffer[] {
    const [big, little] = [Buffer.alloc(8), Buffer.alloc(8)];
    big.writeBigUInt64BE(id);
    little.writeBigUInt64LE(id);
    const digits = Buffer.from(String(id));
    const raw = [digits, Buffer.from(id.toString(16)), Buffer.from(id.toString(36)), big, little];
    const inverted = raw.map((bytes) => Buffer.from(bytes.map((byte) => byte ^ 0xff)));
    return [...raw, ...inverted];
  }

  it("in no encoding", () => {
    // Shorter ones are in any bytes by chance.
    for (const id of ids.filter((id) => id >= 10_000_000n)) {
      const bytes = bytesOf(id);
      const texts = [bytes, Buffer.from(bytes.toString("base64url"))];
      const found = encodingsOf(id).filter((encoding) =>
        texts.some((text) => text.includes(encoding)),
      );
      expect(found, String(id)).toEqual([]);
    }
  });

  it("and the next number changes half of its bits, at every place", () => {
    const changes: number[] = [];
    for (const [nth, id] of ids.entries()) {
      if (nth % 2 === 1) continue;
      const [one, other] = [bytesOf(id), bytesOf(id + 1n)];
      one.forEach((byte, at) => {
        for (let bit = 0; bit < 8; bit++) {
          const place = at * 8 + bit;
          changes[place] = (changes[place] ?? 0) + (((byte ^ (other[at] ?? 0)) >> bit) & 1);
        }
      });
    }
    // Of 200 pairs: a bit that is the same in all of them, or differs in all, would be of the text.
    expect(Math.min(...changes)).toBeGreaterThan(50);
    expect(Math.max(...changes)).toBeLessThan(150);
  });
});
