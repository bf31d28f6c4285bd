/** Checks a response of the service against the OpenAPI document. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { RawResponse } from "../../support/clients/raw-http.ts";

interface Reference {
  readonly $ref?: string;
}

/** A Header Object. */
interface Header {
  readonly required?: boolean;
  readonly schema: AnySchemaObject & { readonly type: string };
}

/** A Response Object. */
interface ResponseObject {
  readonly headers: Readonly<Record<string, Reference>>;
  readonly content?:
    | Readonly<Record<string, { readonly schema: Reference & AnySchemaObject }>>
    | undefined;
}

/** A Parameter Object of a query parameter with a text as its value. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly examples?: Readonly<Record<string, { readonly value: string }>>;
}

/** A Path Item Object: its operations, by method in lower case. */
type PathItem = { readonly parameters: readonly Parameter[] } & Readonly<
  Record<string, { readonly responses: Readonly<Record<string, Reference & ResponseObject>> }>
>;

/** An OpenAPI document, as far as it is used here. */
export interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly schemas: Readonly<Record<string, AnySchemaObject>>;
  };
}

/** The headers of HTTP itself: of the body and of the connection. */
const HTTP_HEADERS = ["connection", "content-length", "content-type", "date", "keep-alive"];

/**
 * What in a response contradicts a document. A field or a header that is not in the document is a
 * contradiction too. A request with an unknown path or method is held to the responses of a known one.
 */
export type Contradictions = (
  request: { readonly method: string; readonly path: string },
  response: RawResponse,
) => string[];

/** Compiles a document. Throws an Error if one of its schemas is invalid. */
export function compileDocument({ paths, components }: Document): Contradictions {
  const ajv = new Ajv2020({ strict: true, allErrors: true });
  formats.default(ajv);
  ajv.addVocabulary(["components"]);
  ajv.addSchema({ $id: "document:", components: { schemas: closed(components.schemas) } });
  const errorsOf = (schema: Reference & AnySchemaObject, value: unknown): string[] => {
    const key = schema.$ref === undefined ? schema : `document:${schema.$ref}`;
    return ajv.validate(key, value) ? [] : [`${ajv.errorsText()} in ${JSON.stringify(value)}`];
  };

  function responseOf(method: string, path: string, status: number): ResponseObject | undefined {
    const item = paths[path] ?? Object.values(paths)[0];
    const response = (item?.[method.toLowerCase()] ?? item?.get)?.responses[status];
    return response?.$ref === undefined
      ? response
      : components.responses[response.$ref.replace(/.*\//, "")];
  }

  function headersOf({ headers: documented }: ResponseObject, headers: RawResponse["headers"]) {
    const described = Object.entries(documented).flatMap(([name, { $ref = "" }]) => {
      const header = components.headers[$ref.replace(/.*\//, "")];
      if (header === undefined) return [`${name} refers to nothing`];
      const text = headers[name]?.toString();
      if (text === undefined) return header.required ? [`there is no ${name}`] : [];
      // OpenAPI's style "simple".
      const value = header.schema.type === "integer" ? Number(text) : text;
      return errorsOf(header.schema, value).map((error) => `${name}: ${error}`);
    });
    const others = Object.keys(headers).filter(
      (name) => !HTTP_HEADERS.includes(name) && !(name in documented),
    );
    return [...described, ...others.map((name) => `${name} is not documented`)];
  }

  function bodyOf({ content }: ResponseObject, response: RawResponse): string[] {
    const { headers } = response;
    const text = decode(response);
    if (content === undefined) return text === "" ? [] : ["there is a body"];
    const [mediaType = ""] = `${headers["content-type"]}`.split(";");
    const form = content[mediaType];
    if (form === undefined) return [`${mediaType} is not documented`];
    return errorsOf(form.schema, mediaType === "application/json" ? JSON.parse(text) : text);
  }

  return ({ method, path }, response) => {
    const documented = responseOf(method, path, response.status);
    if (documented === undefined) return [`${response.status} is not documented`];
    const inBody =
      method === "HEAD"
        ? bodyOf({ ...documented, content: undefined }, response)
        : bodyOf(documented, response);
    return [...headersOf(documented, response.headers), ...inBody];
  };
}

/** The text of a body that may be compressed. A response to HEAD or a 304 has no body to decode. */
function decode({ headers, bytes, text }: RawResponse): string {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };
  const coding = headers["content-encoding"] as keyof typeof decoders | undefined;
  return coding === undefined || bytes.length === 0 ? text : decoders[coding](bytes).toString();
}

/** Schemas whose objects have no other fields than those described. */
function closed<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_name, value) =>
    value?.type === "object" ? { ...value, additionalProperties: false } : value,
  );
}
