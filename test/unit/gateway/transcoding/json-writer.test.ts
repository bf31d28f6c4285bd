import { create, type JsonValue, toJson } from "@bufbuild/protobuf";
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
  ["an enum value without a name is its number", { size: 7 }, '"size":7'],
  ["a lone surrogate is escaped: the JSON is UTF-8", { text: "a\ud800b" }, '"text":"a\\ud800b",'],
])("%s", (_name, fields, json) => {
  expect(write(create(thing, fields))).toContain(json);
});

const RANGE = "seconds are outside the years 0001 to 9999";
const NANOS = "nanoseconds are outside 0 to 999999999";

test.each<[Record<string, unknown>, string]>([
  [
    { parts: [{ name: "a", price: { value: "1.00" } }, { price: { value: "one" } }] },
    'parts: field transcoding.supported.Part.price: "one" is not a decimal number',
  ],
  [{ at: { seconds: -62_135_596_801n } }, `at: -62135596801 ${RANGE}`],
  [{ at: { seconds: 253_402_300_800n } }, `at: 253402300800 ${RANGE}`],
  [{ at: { nanos: -1 } }, `at: -1 ${NANOS}`],
  [{ at: { nanos: 1_000_000_000 } }, `at: 1000000000 ${NANOS}`],
  [{ at: { nanos: 0.5 } }, `at: 0.5 ${NANOS}`],
])("an error names the field: %o", (fields, message) => {
  const expected = new Error(`field transcoding.supported.Thing.${message}`);
  expect(() => write(create(thing, fields))).toThrow(expected);
});

const cents = fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n });
const decimal = fc.record({
  value: cents.map((n) => `${n / 100n}.${`${n < 0n ? -n : n}`.slice(-2).padStart(2, "0")}`),
});
const instant = fc.record({
  seconds: fc.bigInt({ min: -62_135_596_800n, max: 253_402_300_799n }),
  nanos: fc.oneof(
    fc.nat(999_999_999),
    fc.nat(999_999).map((micros) => micros * 1_000),
    fc.nat(999).map((millis) => millis * 1_000_000),
  ),
});
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint32 = fc.nat({ max: 2 ** 32 - 1 });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const size = fc.integer({ min: 0, max: 2 });
const part = fc.record({ name: anyText, price: decimal });
const all = (any: fc.Arbitrary<unknown>, ...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, any]));
const things = fc.record({
  ...all(anyText, "text", "renamed"),
  ...all(fc.integer(), "i32", "s32", "sf32", "maybe"),
  ...all(uint32, "u32", "f32"),
  ...all(int64, "i64", "s64", "sf64"),
  ...all(uint64, "u64", "f64"),
  ...all(size, "size", "maybeSize"),
  ...{ flag: fc.boolean(), text64: int64.map(String), wide: fc.double(), narrow: fc.float() },
  ...{ raw: fc.uint8Array(), part, amount: decimal, at: instant, nothing: fc.constant({}) },
  ...{ texts: fc.array(anyText), numbers: fc.array(int64), sizes: fc.array(size) },
  ...{ parts: fc.array(part), amounts: fc.array(decimal), times: fc.array(instant) },
  raws: fc.array(fc.uint8Array()),
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
