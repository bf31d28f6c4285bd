/** Response Objects: what a route answers besides success, and the headers of its responses. */
import type { Json, JsonObject } from "./json.ts";

/** A header of responses. */
export interface HeaderDetails {
  readonly description: string;
  /** Whether every response that lists the header has it. */
  readonly required?: true;
  readonly schema: JsonObject;
}

/** A response that any operation can have, by its status. */
export interface ResponseDetails {
  /** The HTTP status. */
  readonly status: number;
  /** The name of the response in the document: `BadRequest`. */
  readonly name: string;
  /** When it is sent. */
  readonly description: string;
  /** The names of its headers in addition to those of every response. */
  readonly headers: readonly string[];
  /** The name of the schema of its body; undefined for a response without a body. */
  readonly schema?: string;
  readonly examples?: Examples;
}

/** Example Objects by a name that says what they show. */
export type Examples = Readonly<Record<string, { readonly summary: string; readonly value: Json }>>;

/** A form of a successful response. */
export interface Form {
  readonly mediaType: string;
  readonly schema: JsonObject;
  readonly examples: Examples | undefined;
}

/** The media type of bodies, unless a client asks for another. */
export const JSON_TYPE = "application/json";

/** The Response Object of a response to GET. */
export function responseObject(details: ResponseDetails, always: readonly string[]): JsonObject {
  const { schema, examples } = details;
  const content = schema && { [JSON_TYPE]: { schema: schemaReference(schema), examples } };
  return { ...withoutContent(details, always), content };
}

function withoutContent(
  { description, headers }: Pick<ResponseDetails, "description" | "headers">,
  always: readonly string[],
): JsonObject {
  return { description, headers: headerReferences([...always, ...headers]) };
}

/** The Response Object of success. */
export function successObject(
  description: string,
  headers: readonly string[],
  forms: readonly Form[],
): JsonObject {
  const content = forms.map(({ mediaType, ...rest }) => [mediaType, rest]);
  return {
    description,
    headers: headerReferences(headers),
    content: Object.fromEntries(content),
  };
}

/** The Header Object of a header. */
export function headerObject({ description, required, schema }: HeaderDetails): JsonObject {
  return { description, required, schema };
}

/** A reference to a schema of the document. */
export function schemaReference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function headerReferences(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
