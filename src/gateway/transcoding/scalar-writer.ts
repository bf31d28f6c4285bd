/**
 * Writers of singular values: protobuf-es value to JSON text, by the protobuf JSON mapping. Other types than these are
 * refused at start.
 *
 * @see https://protobuf.dev/programming-guides/json/
 */
import { ScalarType } from "@bufbuild/protobuf";

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

/** The writers, by the type of the field. */
export const SCALAR_WRITERS: { readonly [type in ScalarType]?: Write } = {
  [ScalarType.STRING]: (value) => writeString(value as string),
  [ScalarType.BOOL]: String,
  [ScalarType.INT32]: String,
};
