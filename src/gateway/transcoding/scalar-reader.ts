/** Readers of query parameters: text in a URL to protobuf-es value. Other types than these are refused at start. */
import { type DescField, ScalarType } from "@bufbuild/protobuf";

/** Reads the text of one field. */
export interface TextReader {
  /** What the text must be, to follow "expected …": "text". */
  readonly expected: string;
  /** The value; undefined if the text is not as expected. */
  readonly read: (text: string) => string | number | undefined;
}

/** Written as in JSON: no leading zeros, no "+". Longer numbers are out of range. */
const INTEGER = /^(?:0|-?[1-9]\d{0,9})$/;

const READERS: { readonly [type in ScalarType]?: TextReader } = {
  [ScalarType.STRING]: { expected: "text", read: (text) => text },
  [ScalarType.INT32]: {
    expected: `an integer from ${-(2 ** 31)} to ${2 ** 31 - 1}`,
    read(text) {
      const value = Number(text);
      // The conversion to 32 bits changes a number that is out of range.
      return INTEGER.test(text) && value === (value | 0) ? value : undefined;
    },
  },
};

/** The reader of a field; undefined if no query parameter can carry it. */
export function textReader(field: DescField): TextReader | undefined {
  return field.fieldKind === "scalar" && field.oneof === undefined
    ? READERS[field.scalar]
    : undefined;
}
