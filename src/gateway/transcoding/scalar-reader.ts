/**
 * Readers of singular values: text in a URL to protobuf-es value.
 *
 * Numbers are written as in JSON: no leading zeros, no "+". A number outside the range of its type
 * is an error.
 */
import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";

/** Reads the text of one field. */
export interface TextReader {
  /** What the text must be, to follow "expected …": "an integer from 0 to 4294967295". */
  readonly expected: string;
  /** The value; undefined if the text is not as expected. */
  readonly read: (text: string) => TextValue | undefined;
}

/** The values of fields that a URL can carry. */
type TextValue = string | boolean | number | bigint;

/**
 * The reader of a field; undefined if a URL cannot carry the field: messages, lists, maps, bytes,
 * members of a oneof, `google.protobuf.NullValue`.
 */
export function textReader(field: DescField): TextReader | undefined {
  if (field.oneof !== undefined) return undefined;
  if (field.fieldKind === "enum") return enumReader(field.enum);
  if (field.fieldKind !== "scalar") return undefined;
  const reader = SCALARS[field.scalar];
  return reader !== undefined && field.longAsString
    ? { expected: reader.expected, read: (text) => reader.read(text)?.toString() }
    : reader;
}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

const INT32 = integer(-(2n ** 31n), 2n ** 31n - 1n, Number);
const UINT32 = integer(0n, 2n ** 32n - 1n, Number);
const INT64 = integer(-(2n ** 63n), 2n ** 63n - 1n, BigInt);
const UINT64 = integer(0n, 2n ** 64n - 1n, BigInt);

const SCALARS: { readonly [type in ScalarType]?: TextReader } = {
  [ScalarType.STRING]: { expected: "text", read: (text) => text },
  [ScalarType.BOOL]: {
    expected: "true or false",
    read: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  },
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.FIXED64]: UINT64,
  [ScalarType.DOUBLE]: decimal((value) => value),
  [ScalarType.FLOAT]: decimal(Math.fround),
};

function integer(
  min: bigint,
  max: bigint,
  convert: (value: bigint) => number | bigint,
): TextReader {
  // Longer texts are out of range. They are not parsed: BigInt is slow on a very long one.
  const maxLength = Math.max(`${min}`.length, `${max}`.length);
  return {
    expected: `an integer from ${min} to ${max}`,
    read(text) {
      if (text.length > maxLength || !INTEGER.test(text)) return undefined;
      const value = BigInt(text);
      return value < min || value > max ? undefined : convert(value);
    },
  };
}

function decimal(round: (value: number) => number): TextReader {
  return {
    expected: "a decimal number",
    read(text) {
      if (!DECIMAL.test(text)) return undefined;
      const value = round(Number(text));
      return Number.isFinite(value) ? value : undefined;
    },
  };
}

function enumReader(desc: DescEnum): TextReader | undefined {
  if (desc.typeName === "google.protobuf.NullValue") return undefined;
  const numbers = new Map(desc.values.map((value) => [value.name, value.number]));
  return {
    expected: `one of ${[...numbers.keys()].join(", ")}`,
    read: (text) => numbers.get(text),
  };
}
