import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compileWriter } from "../../../../src/gateway/transcoding/json-writer.ts";
import { anyText } from "../../../support/any-text.ts";
import { messageOf } from "./contract.ts";

const thing = messageOf("transcoding.supported.Thing");
const write = compileWriter(thing);

test("every field is written, in the order of the proto file, zeros and unset ones included", () => {
  expect(write(create(thing))).toBe(
    '{"text":"","flag":false,"i32":0,"u32":0,"s32":0,"f32":0,"sf32":0,' +
      '"i64":"0","u64":"0","s64":"0","f64":"0","sf64":"0","text64":"0","wide":0,"narrow":0,' +
      '"raw":"","size":"SIZE_UNSPECIFIED","part":null,"amount":0,"at":null,"nothing":null,' +
      '"maybe":null,"maybeSize":null,"total\\"YTD":"","texts":[],"numbers":[],"sizes":[],' +
      '"parts":[],"amounts":[],"times":[],"raws":[]}',
  );
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "digits that binary floating point would lose are kept",
    { amount: { value: "90071992547409931.10" } },
    '"amount":90071992547409931.10',
  ],
  ["an enum value without a name is its number", { size: 7 }, '"size":7'],
  ["a lone surrogate is escaped: the JSON is UTF-8", { text: "a\ud800b" }, '"text":"a\\ud800b",'],
])("%s", (_name, fields, json) => {
  expect(write(create(thing, fields))).toContain(json);
});

test("an error names the field", () => {
  const parts = [{ name: "a", price: { value: "1.00" } }, { price: { value: "one" } }];
  expect(() => write(create(thing, { parts }))).toThrow(
    new Error(
      'field transcoding.supported.Thing.parts: field transcoding.supported.Part.price: "one" is not a decimal number',
    ),
  );
  expect(() => write(create(thing, { at: { seconds: 253_402_300_800n } }))).toThrow(
    new Error(
      "field transcoding.supported.Thing.at: 253402300800 seconds are outside the years 0001 to 9999",
    ),
  );
});

const cents = fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n });
const decimal = fc.record({
  value: cents.map((n) => `${n / 100n}.${`${n < 0n ? -n : n}`.slice(-2).padStart(2, "0")}`),
});
const instant = fc
  .integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 })
  .map(timestampFromMs);
const int32 = fc.integer();
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const size = fc.integer({ min: 0, max: 2 });
const raw = fc.uint8Array();
const part = fc.record({ name: anyText, price: decimal });
const things = fc.record({
  text: anyText,
  flag: fc.boolean(),
  i32: int32,
  u32: uint32,
  s32: int32,
  f32: uint32,
  sf32: int32,
  i64: int64,
  u64: uint64,
  s64: int64,
  f64: uint64,
  sf64: int64,
  text64: int64.map(String),
  wide: fc.double(),
  narrow: fc.float(),
  raw,
  size,
  part,
  amount: decimal,
  at: instant,
  nothing: fc.constant({}),
  maybe: int32,
  maybeSize: size,
  renamed: anyText,
  texts: fc.array(anyText),
  numbers: fc.array(int64),
  sizes: fc.array(size),
  parts: fc.array(part),
  amounts: fc.array(decimal),
  times: fc.array(instant),
  raws: fc.array(raw),
});

test("any message is written as by protobuf-es, except for decimals", () => {
  fc.assert(
    fc.property(things, (fields) => {
      const message = create(thing, fields);
      const expected = toJson(thing, message, { alwaysEmitImplicit: true });
      expect(JSON.parse(write(message))).toEqual(
        // JSON text has no -0.
        JSON.parse(JSON.stringify(expected), (_key, value) => decimalAsNumber(value)),
      );
    }),
  );
});

/** protobuf-es writes a Decimal like any message: `{"value":"4500.00"}`. */
function decimalAsNumber(value: JsonValue): JsonValue {
  return value !== null && typeof value === "object" && "value" in value
    ? Number(value.value)
    : value;
}
