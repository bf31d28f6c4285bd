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
    '{"text":"","flag":false,"integer":0,"part":null,"amount":0,"at":null,"maybe":null,' +
      '"total\\"YTD":"","texts":[],"numbers":[],"parts":[],"amounts":[],"times":[]}',
  );
});

test("a lone surrogate is escaped: the JSON is UTF-8", () => {
  expect(write(create(thing, { text: "a\ud800b" }))).toContain('"text":"a\\ud800b",');
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
const part = fc.record({ name: anyText, price: decimal });
const things = fc.record({
  ...{ text: anyText, renamed: anyText, flag: fc.boolean(), integer: fc.integer() },
  ...{ maybe: fc.integer(), part, amount: decimal, at: instant },
  ...{ texts: fc.array(anyText), numbers: fc.array(fc.integer()), parts: fc.array(part) },
  ...{ amounts: fc.array(decimal), times: fc.array(instant) },
});

test("any message is written as by protobuf-es, except for decimals", () => {
  fc.assert(
    fc.property(things, (fields) => {
      const message = create(thing, fields);
      const expected = toJson(thing, message, { alwaysEmitImplicit: true });
      expect(JSON.parse(write(message))).toEqual(
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
