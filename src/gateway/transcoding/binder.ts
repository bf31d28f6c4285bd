/**
 * Binders: path variables and query to a typed request message.
 *
 * A query parameter has the JSON name of its field and may be given once. An error names the
 * parameter, what was received and what is expected.
 */
import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { quote } from "../../quote.ts";
import type { Segment } from "./path-template.ts";
import { forEachParameter } from "./query.ts";
import { RequestError } from "./request-error.ts";
import { type TextReader, textReader } from "./scalar-reader.ts";

/**
 * Makes a request message from path variables (decoded, by proto field name) and a raw query
 * (without its "?"). Throws `RequestError` if they do not fit the message.
 */
export type Binder<I extends DescMessage> = (
  variables: Readonly<Record<string, string>>,
  query: string,
) => MessageShape<I>;

/** A field that is bound to a path variable or a query parameter. */
interface BoundField {
  /** The message property. */
  readonly property: string;
  /** Its name in error messages: `query parameter "limit"`. */
  readonly title: string;
  readonly reader: TextReader;
}

/**
 * Compiles the binder of a request type for a path. The path variables are bound to the fields of
 * their names, all other fields to query parameters. Throws an Error if a variable names no field,
 * or a URL cannot carry the type of a field.
 */
export function compileBinder<I extends DescMessage>(
  desc: I,
  segments: readonly Segment[],
): Binder<I> {
  const names = segments.flatMap((segment) => ("variable" in segment ? [segment.variable] : []));
  const unknown = names.find((name) => desc.fields.every((field) => field.name !== name));
  if (unknown !== undefined) {
    throw new Error(`the variable "${unknown}" names no field of ${desc.typeName}`);
  }
  const variables = new Map<string, BoundField>();
  const parameters = new Map<string, BoundField>();
  for (const field of desc.fields) {
    if (names.includes(field.name)) {
      variables.set(field.name, boundField(field, "path variable", field.name));
    } else {
      parameters.set(field.jsonName, boundField(field, "query parameter", field.jsonName));
    }
  }
  const allowed = `allowed parameters: ${[...parameters.keys()].join(", ") || "none"}`;

  return (values, query) => {
    const message = create(desc);
    // The message type is known at run time only: its properties have no types.
    const properties = message as unknown as Record<string, unknown>;
    for (const [name, variable] of variables) {
      properties[variable.property] = read(variable, values[name] ?? "");
    }
    if (query !== "") {
      const seen = new Set<string>();
      forEachParameter(query, (name, value) => {
        const parameter = parameters.get(name);
        if (parameter === undefined) {
          throw new RequestError(`unknown query parameter ${quote(name)}; ${allowed}`);
        }
        if (seen.has(name)) {
          throw new RequestError(`${parameter.title} is repeated; it must be given once`);
        }
        seen.add(name);
        properties[parameter.property] = read(parameter, value);
      });
    }
    return message;
  };
}

function boundField(field: DescField, kind: string, name: string): BoundField {
  const reader = textReader(field);
  if (reader === undefined) {
    throw new Error(`${field}: a field of this type cannot be a ${kind}`);
  }
  return { property: field.localName, title: `${kind} "${name}"`, reader };
}

function read({ title, reader }: BoundField, text: string): unknown {
  const value = reader.read(text);
  if (value === undefined) {
    throw new RequestError(`${title}: expected ${reader.expected}, got ${quote(text)}`);
  }
  return value;
}
