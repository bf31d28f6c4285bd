/**
 * Writers of singular values: protobuf-es value to JSON text, by the protobuf JSON mapping.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/** Writes a value as JSON. The value has the type that protobuf-es uses for the field. */
export type Write = (value: unknown) => string;

/**
 * Matches text with characters to escape: control characters, quotation marks and backslashes
 * (RFC 8259, section 7), and surrogates, since one may be unpaired.
 */
const NEEDS_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as a JSON string. Lone surrogates become escapes, so that the JSON is valid UTF-8. */
function writeString(text: string): string {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** The writer of a scalar type. */
export function scalarWriter(type: ScalarType): Write {
  switch (type) {
    case ScalarType.STRING:
      return (value) => writeString(value as string);
    case ScalarType.BOOL:
      return String;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return (value) => `${value as number}`;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      // A string: JSON.parse in JavaScript would round a large number.
      return (value) => `"${value as bigint | string}"`;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (value) => (Number.isFinite(value) ? JSON.stringify(value) : `"${value}"`);
    case ScalarType.BYTES:
      return (value) => {
        const { buffer, byteOffset, byteLength } = value as Uint8Array;
        return `"${Buffer.from(buffer, byteOffset, byteLength).toString("base64")}"`;
      };
  }
}

/** The writer of an enum: the name of the value, or its number if it has no name. */
export function enumWriter(desc: DescEnum): Write {
  const names = new Map(desc.values.map((value) => [value.number, writeString(value.name)]));
  return (value) => names.get(value as number) ?? `${value as number}`;
}
