/** JSON Schemas of scalars and enums: as the transcoder reads them from a URL and writes them as JSON. */
import { type DescEnum, ScalarType } from "@bufbuild/protobuf";
import type { JsonObject } from "./json.ts";

/** A 32-bit integer. */
const INT32 = { type: "integer", format: "int32" };
/** OpenAPI has no format for it that all tools know. */
const UINT32 = { type: "integer", minimum: 0, maximum: 2 ** 32 - 1 };
const INT64 = { type: "integer", format: "int64" };
const UINT64 = { type: "integer", minimum: 0 };

/** The schema of a parameter. Bytes have none: a URL cannot carry them. */
export function parameterSchema(type: ScalarType): JsonObject {
  switch (type) {
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { ...INT64, default: 0 };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { ...UINT64, default: 0 };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double", default: 0 };
    case ScalarType.FLOAT:
      return { type: "number", format: "float", default: 0 };
    case ScalarType.BOOL:
      return { type: "boolean", default: false };
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      throw new Error("bytes cannot be a parameter");
    default:
      return { ...valueSchema(type), default: 0 };
  }
}

/** The schema of a value in a response. */
export function valueSchema(type: ScalarType): JsonObject {
  switch (type) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return INT32;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return UINT32;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", pattern: "^-?[0-9]+$" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", pattern: "^[0-9]+$" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return {
        anyOf: [
          { type: "number", format: type === ScalarType.FLOAT ? "float" : "double" },
          { type: "string", enum: ["NaN", "Infinity", "-Infinity"] },
        ],
      };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
  }
}

/** The schema of an enum. A value without a name, which only a newer contract has, is a number. */
export function enumSchema({ values }: DescEnum): JsonObject {
  return { type: "string", enum: values.map(({ name }) => name) };
}
