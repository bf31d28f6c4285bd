/** JSON values, with numbers that keep their digits: `4500.00` in an example stays `4500.00`. */

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

/** A JSON object. A field that is undefined is left out. */
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** `JSON.rawJSON`, which the type declarations lack. @see https://tc39.es/proposal-json-parse-with-source/ */
const { rawJSON, isRawJSON } = JSON as typeof JSON & {
  readonly rawJSON: (text: string) => Json;
  readonly isRawJSON: (value: Json) => boolean;
};

/** Whether a value is a number that `parseJson` found. */
export const isNumber = (value: Json): boolean => isRawJSON(value);

/** Parses JSON. Numbers are opaque values, which `writeJson` writes with the digits they had. */
export function parseJson(text: string): Json {
  return JSON.parse(text, (_name, value: Json, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? rawJSON(context.source) : value,
  );
}

/** Writes a value as indented JSON text with a final line break. */
export function writeJson(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
