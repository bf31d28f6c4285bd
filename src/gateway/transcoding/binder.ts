/**
 * Binders: query to a typed request message.
 *
 * A query parameter has the JSON name of its field and may be given once. An error names the
 * parameter, what was received and what is expected.
 */
import { create, type DescField, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import { quote } from "../../quote.ts";
import { forEachParameter } from "./query.ts";
import { RequestError } from "./request-error.ts";
import { type TextReader, textReader } from "./scalar-reader.ts";

/** Makes a request message from a raw query (without its "?"). Throws `RequestError` if that does not fit the message. */
export type Binder<I extends DescMessage> = (query: string) => MessageShape<I>;

/** A field that is bound to a query parameter. */
interface BoundField {
  /** The message property. */
  readonly property: string;
  /** Its name in error messages: `query parameter "limit"`. */
  readonly title: string;
  readonly reader: TextReader;
}

/** Compiles the binder of a request type. Throws an Error that names a field whose type a query cannot carry. */
export function compileBinder<I extends DescMessage>(desc: I): Binder<I> {
  const parameters = new Map(desc.fields.map((field) => [field.jsonName, boundField(field)]));
  const allowed = `allowed parameters: ${[...parameters.keys()].join(", ") || "none"}`;

  return (query) => {
    const message = create(desc);
    // The message type is known at run time only: its properties have no types.
    const properties = message as unknown as Record<string, unknown>;
    if (query === "") return message;
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
    return message;
  };
}

function boundField(field: DescField): BoundField {
  const reader = textReader(field);
  if (reader === undefined) {
    throw new Error(`${field}: a field of this type cannot be a query parameter`);
  }
  return { property: field.localName, title: `query parameter "${field.jsonName}"`, reader };
}

function read({ title, reader }: BoundField, text: string): unknown {
  const value = reader.read(text);
  if (value === undefined) {
    throw new RequestError(`${title}: expected ${reader.expected}, got ${quote(text)}`);
  }
  return value;
}
