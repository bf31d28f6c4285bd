/**
 * `google.type.Decimal` in JSON: a number with the very digits of its string, so that
 * `4500.00` stays `4500.00` and no binary floating-point number lies in between.
 *
 * @see https://github.com/googleapis/googleapis/blob/master/google/type/decimal.proto
 */

/** A number of JSON: RFC 8259, section 6. */
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * The decimal string as a JSON number; `0` for the empty string, which is the message's
 * default. Throws an Error for a string that is no JSON number ("+1", ".5", "1,000").
 */
export function writeDecimal(value: string): string {
  if (NUMBER.test(value)) return value;
  if (value === "") return "0";
  throw new Error(`${JSON.stringify(value)} is not a decimal number`);
}
