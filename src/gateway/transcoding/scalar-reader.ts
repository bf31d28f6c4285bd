/**
 * A field's value as text in a URL: the text to the value that protobuf-es keeps.
 *
 * Numbers are read as people and programs write them in JSON, without leading zeros or
 * signs that say nothing; a value outside its type's range is refused, never wrapped.
 */
import { type DescEnum, type DescField, ScalarType } from "@bufbuild/protobuf";

/** How the text of one field is read. */
export interface TextReader {
  /** What would be right, to follow "it takes …". */
  readonly takes: string;
  /** The value, or undefined where the text is no such value. */
  readonly read: (text: string) => TextValue | undefined;
}

/** The values of singular fields that can stand in a URL. */
export type TextValue = string | boolean | number | bigint;

/**
 * The reader of a field, or undefined where the field's type has no place in a URL:
 * messages, lists, maps, bytes, members of a oneof, enums that JSON writes otherwise.
 */
export function textReader(field: DescField): TextReader | undefined {
  if (field.oneof !== undefined) return undefined;
  if (field.fieldKind === "enum") return enumReader(field.enum);
  if (field.fieldKind !== "scalar") return undefined;
  const reader = SCALARS[field.scalar];
  return reader !== undefined && field.longAsString
    ? { takes: reader.takes, read: (text) => reader.read(text)?.toString() }
    : reader;
}

const WHOLE = /^(?:0|-?[1-9][0-9]*)$/;
const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

const INT32 = whole(-(2n ** 31n), 2n ** 31n - 1n, Number);
const UINT32 = whole(0n, 2n ** 32n - 1n, Number);
const INT64 = whole(-(2n ** 63n), 2n ** 63n - 1n, BigInt);
const UINT64 = whole(0n, 2n ** 64n - 1n, BigInt);

const SCALARS: { readonly [type in ScalarType]?: TextReader } = {
  [ScalarType.STRING]: { takes: "a text", read: (text) => text },
  [ScalarType.BOOL]: {
    takes: "true or false",
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

function whole(least: bigint, most: bigint, from: (value: bigint) => number | bigint): TextReader {
  // The longest number of the range; a longer text is out of it, and need not be parsed to know.
  const longest = Math.max(`${least}`.length, `${most}`.length);
  return {
    takes: `a whole number from ${least} to ${most}`,
    read(text) {
      if (text.length > longest || !WHOLE.test(text)) return undefined;
      const value = BigInt(text);
      return value < least || value > most ? undefined : from(value);
    },
  };
}

function decimal(round: (value: number) => number): TextReader {
  return {
    takes: "a decimal number",
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
  return { takes: `one of ${[...numbers.keys()].join(", ")}`, read: (text) => numbers.get(text) };
}
