/** JSON Schemas of scalars, as the transcoder reads them from a URL and writes them as JSON. */
import { type DescField, ScalarType } from "@bufbuild/protobuf";
import type { JsonObject } from "./json.ts";

const SCHEMAS: { readonly [type in ScalarType]?: JsonObject } = {
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.INT32]: { type: "integer", format: "int32" },
};

/** The schema of a scalar field. The transcoder refuses all others at start. */
export function scalarSchema(field: DescField): JsonObject {
  const schema = field.scalar && SCHEMAS[field.scalar];
  if (schema === undefined) throw new Error(`${field}: a field of this type is not supported`);
  return schema;
}
