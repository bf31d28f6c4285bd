/** The query parameters of a route, from the fields of its request. */
import type { Route } from "../../src/gateway/transcoding/routes.ts";
import { commentOf } from "./comments.ts";
import type { JsonObject } from "./json.ts";
import { scalarSchema } from "./scalar-schema.ts";

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
  return route.method.input.fields.map((field) => {
    const { schema, examples } = details[field.name] ?? {};
    const type = scalarSchema(field);
    return {
      name: field.jsonName,
      in: "query",
      description: commentOf(field) || undefined,
      schema: { ...type, ...(type.type === "integer" && { default: 0 }), ...schema },
      examples,
    };
  });
}
