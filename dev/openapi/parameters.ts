/** The parameters of a route: path variables and query parameters, from the fields of its request. */
import type { DescField } from "@bufbuild/protobuf";
import type { Route } from "../../src/gateway/transcoding/routes.ts";
import { commentOf } from "./comments.ts";
import type { JsonObject } from "./json.ts";
import { enumSchema, parameterSchema } from "./scalar-schema.ts";

/** What a contract cannot say of a parameter in a way that a program reads. */
export interface ParameterDetails {
  /** Keywords of JSON Schema in addition to those that follow from the type: `pattern`. */
  readonly schema?: JsonObject;
  /** Values by a name that says what they show. */
  readonly examples?: Readonly<
    Record<string, { readonly summary: string; readonly value: string }>
  >;
}

/** Details by the name of the field, which means the same in every request. */
export type DetailsByField = Readonly<Record<string, ParameterDetails>>;

/** The Parameter Objects of a route. */
export function parametersOf(route: Route, details: DetailsByField): JsonObject[] {
  const variables = route.segments.flatMap((segment) =>
    "variable" in segment ? [segment.variable] : [],
  );
  return route.method.input.fields.map((field) => {
    const isVariable = variables.includes(field.name);
    const { schema, examples } = details[field.name] ?? {};
    return {
      name: isVariable ? field.name : field.jsonName,
      in: isVariable ? "path" : "query",
      ...(isVariable && { required: true }),
      description: commentOf(field) || undefined,
      schema: { ...typeOf(field, isVariable), ...schema },
      examples,
    };
  });
}

function typeOf(field: DescField, isVariable: boolean): JsonObject {
  switch (field.fieldKind) {
    case "enum": {
      const schema = enumSchema(field.enum);
      return isVariable ? schema : { ...schema, default: field.enum.values[0]?.name };
    }
    case "scalar": {
      const { default: zero, ...schema } = parameterSchema(field.scalar);
      // An empty path segment matches no variable.
      if (isVariable && schema.type === "string") return { ...schema, minLength: 1 };
      const hasDefault = zero !== undefined && !isVariable && !field.proto.proto3Optional;
      return hasDefault ? { ...schema, default: zero } : schema;
    }
    default:
      // The binder refuses these at start.
      throw new Error(`${field}: a field of this type cannot be a parameter`);
  }
}
