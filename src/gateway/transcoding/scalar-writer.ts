/**
 * A singular value of a message to its JSON text, by the protobuf JSON mapping.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";

/** Writes one value as JSON. The value is what protobuf-es keeps for the field's type. */
export type Write = (value: unknown) => string;

/**
 * Whether a text holds more than what stands in JSON as it is (RFC 8259, section 7: no
 * control character, quotation mark or backslash; here no surrogate either: it may be alone).
 */
const NEEDS_ESCAPE = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** A text as a JSON string. Lone surrogates become escapes, so that the answer is valid UTF-8. */
export function writeString(text: string): string {
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
      // As a string: JavaScript's JSON.parse would round a larger number.
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

/** The writer of an enum: a value's name; its number where the name is not known here. */
export function enumWriter(desc: DescEnum): Write {
  const names = new Map(desc.values.map((value) => [value.number, writeString(value.name)]));
  return (value) => names.get(value as number) ?? `${value as number}`;
}
