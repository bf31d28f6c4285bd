/**
 * The binder: a request's path variables and query to its typed message.
 *
 * A parameter is known by its field's JSON name, exactly; it may come once. What cannot be
 * bound is the caller's mistake and told in full: the parameter, what came, what is right.
 */
import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { Segment } from "./path-template.ts";
import { forEachParameter } from "./query.ts";
import { quote } from "./quote.ts";
import { RequestError } from "./request-error.ts";
import { type TextReader, textReader } from "./scalar-reader.ts";

/**
 * Makes the request message of the path variables (decoded, by the field's proto name) and
 * the raw query (without its "?"). Throws `RequestError`.
 */
export type Binder<I extends DescMessage> = (
  variables: Readonly<Record<string, string>>,
  query: string,
) => MessageShape<I>;

/** One field, and how its text is read. */
interface Place {
  /** The key of the message's property. */
  readonly property: string;
  /** What messages call it: `query parameter "limit"`. */
  readonly title: string;
  readonly reader: TextReader;
}

/**
 * Compiles the binder of a request type on a path: its variables fill their fields, every
 * other field is a query parameter. Throws an Error that names a variable without a field
 * and a field whose type has no place in a URL.
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
  const variables = new Map<string, Place>();
  const parameters = new Map<string, Place>();
  for (const field of desc.fields) {
    if (names.includes(field.name)) {
      variables.set(field.name, place(field, "path variable", field.name));
    } else {
      parameters.set(field.jsonName, place(field, "query parameter", field.jsonName));
    }
  }
  const takes = `this path takes ${list([...parameters.keys()])}`;

  return (values, query) => {
    const message = create(desc);
    // A message type that is known only at run time has no typed properties.
    const properties = message as unknown as Record<string, unknown>;
    for (const [name, variable] of variables) {
      properties[variable.property] = read(variable, values[name] ?? "");
    }
    if (query !== "") {
      const seen = new Set<string>();
      forEachParameter(query, (name, value) => {
        const parameter = parameters.get(name);
        if (parameter === undefined) {
          throw new RequestError(`unknown query parameter ${quote(name)}; ${takes}`);
        }
        if (seen.has(name)) {
          throw new RequestError(`${parameter.title} comes twice; send it once`);
        }
        seen.add(name);
        properties[parameter.property] = read(parameter, value);
      });
    }
    return message;
  };
}

function place(field: DescField, what: string, name: string): Place {
  const reader = textReader(field);
  if (reader === undefined) {
    throw new Error(`${field}: a field of this type cannot be a ${what}`);
  }
  return { property: field.localName, title: `${what} "${name}"`, reader };
}

function read(place: Place, text: string): unknown {
  const value = place.reader.read(text);
  if (value === undefined) {
    throw new RequestError(`${place.title} is ${quote(text)}; it takes ${place.reader.takes}`);
  }
  return value;
}

/** "none", "a", "a and b", "a, b and c". */
function list(names: readonly string[]): string {
  if (names.length < 2) return names[0] ?? "none";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
