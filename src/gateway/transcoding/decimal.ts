/**
 * `google.type.Decimal` in JSON: a number with the digits of its string. `4500.00` stays `4500.00`,
 * without a detour through binary floating point.
 *
 * @see https://github.com/googleapis/googleapis/blob/master/google/type/decimal.proto
 */

/** A JSON number: RFC 8259, section 6. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * A decimal string as a JSON number. The empty string, which is the message's default, is `0`.
 * Throws an Error if the string is no JSON number ("+1", ".5", "1,000").
 */
export function writeDecimal(value: string): string {
  if (NUMBER.test(value)) return value;
  if (value === "") return "0";
  throw new Error(`${JSON.stringify(value)} is not a decimal number`);
}
