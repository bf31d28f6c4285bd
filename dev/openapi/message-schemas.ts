/**
 * JSON Schemas of response messages, as the transcoder writes them: every field is required, a
 * `google.type.Decimal` is a number, and a field that is declared `optional` may be null.
 *
 * A message field that is not `optional` is expected to be set in every response.
 */
import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { commentOf } from "./comments.ts";
import type { JsonObject } from "./json.ts";
import { scalarSchema } from "./scalar-schema.ts";

/** The type name of decimals. */
const DECIMAL = "google.type.Decimal";

const DECIMAL_SCHEMA = {
  type: "number",
  // Without a format, generators for some languages choose a type of 32 bits.
  format: "double",
  description:
    "A decimal number, with exactly the digits of the value: `4500.00`, not `4500`. A double holds every digit, but sums of doubles are inexact: for arithmetic, parse the number as a decimal.",
};

/** Collects the schemas of messages, by their names in the document. */
export interface MessageSchemas {
  /** A reference to the schema of a message. Adds the schema, and those it refers to. */
  refer(desc: DescMessage): JsonObject;
  /** The schemas so far. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
}

/**
 * Makes an empty collection.
 *
 * @param packageName the messages of this package have their own names, others also their package's
 * @returns a collection that throws an Error if two messages have one name
 */
export function collectSchemas(packageName: string): MessageSchemas {
  const schemas: Record<string, JsonObject> = {};
  const messages = new Map<string, DescMessage>();
  const prefix = `${packageName}.`;

  function refer(desc: DescMessage): JsonObject {
    if (desc.typeName === TimestampSchema.typeName) return { type: "string", format: "date-time" };
    const isDecimal = desc.typeName === DECIMAL;
    const name = isDecimal ? "Decimal" : nameOf(desc);
    const other = messages.get(name) ?? desc;
    if (other !== desc) throw new Error(`${other} and ${desc} have one name in OpenAPI: ${name}`);
    messages.set(name, desc);
    schemas[name] ??= isDecimal ? DECIMAL_SCHEMA : objectSchema(desc);
    return { $ref: `#/components/schemas/${name}` };
  }

  /**
   * `GetOverviewResponse` is `OverviewResponse`: generators of clients (oapi-codegen for one) give
   * the name of the operation with `Response` to a type of their own.
   */
  function nameOf({ typeName }: DescMessage): string {
    const name = typeName.startsWith(prefix) ? typeName.slice(prefix.length) : typeName;
    return name.replaceAll(".", "_").replace(/^[A-Z][a-z]+(?=[A-Z]\w*Response$)/, "");
  }

  function objectSchema(desc: DescMessage): JsonObject {
    return {
      type: "object",
      ...described(commentOf(desc)),
      required: desc.fields.map(({ jsonName }) => jsonName),
      properties: Object.fromEntries(
        desc.fields.map((field) => [
          field.jsonName,
          { ...fieldSchema(field), ...described(commentOf(field)) },
        ]),
      ),
    };
  }

  function fieldSchema(field: DescField): JsonObject {
    switch (field.fieldKind) {
      case "list":
        return { type: "array", items: singular(field) };
      case "map":
        throw new Error(`${field}: a map is not supported`);
      case "message":
        return field.proto.proto3Optional ? orNull(singular(field)) : singular(field);
      default:
        return field.presence === FeatureSet_FieldPresence.IMPLICIT
          ? singular(field)
          : orNull(singular(field));
    }
  }

  function singular(
    field: DescField & { fieldKind: "scalar" | "enum" | "message" | "list" },
  ): JsonObject {
    return field.message === undefined ? scalarSchema(field) : refer(field.message);
  }

  return { refer, schemas };
}

function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: "null" }] };
}

function described(description: string): JsonObject {
  return description === "" ? {} : { description };
}
