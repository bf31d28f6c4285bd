/** Checks a response of the service against the OpenAPI document. */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { RawResponse } from "../../support/clients/raw-http.ts";

/** An object of OpenAPI that has a schema: a header, or a media type. */
interface Described {
  readonly required?: boolean;
  readonly schema: AnySchemaObject;
}

/** A Response Object. */
interface ResponseObject {
  readonly headers: Readonly<Record<string, Described>>;
  readonly content?: Readonly<Record<string, Described>> | undefined;
}

/** A Parameter Object of a query parameter with a text as its value. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly examples?: Readonly<Record<string, { readonly value: string }>>;
}

/** A Path Item Object: its operations, by method in lower case. */
type PathItem = { readonly parameters: readonly Parameter[] } & Readonly<
  Record<string, { readonly responses: Readonly<Record<string, ResponseObject>> }>
>;

/** An OpenAPI document without references, as far as it is used here. */
export interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
}

/** Reads a document: what it refers to is in place, and its objects have no other fields than those described. */
export function readDocument(text: string): Document {
  const whole = JSON.parse(text);
  const resolve = (path: string) =>
    path
      .split("/")
      .slice(1)
      .reduce((at, name) => at[name], whole);
  const closed = (text: string): Document =>
    JSON.parse(text, (_, value) => {
      if (value?.$ref !== undefined) return closed(JSON.stringify(resolve(value.$ref)));
      return value?.type === "object" ? { ...value, additionalProperties: false } : value;
    });
  return closed(text);
}

/** HTTP's own headers: of the body and of the connection. */
const HTTP_HEADERS = ["connection", "content-length", "content-type", "date", "keep-alive"];

const ajv = new Ajv2020({ strict: true, allErrors: true });
formats.default(ajv);

function errorsOf({ schema }: Described, value: unknown): string[] {
  return ajv.validate(schema, value) ? [] : [`${ajv.errorsText()} in ${JSON.stringify(value)}`];
}

/**
 * What in a response contradicts a document. A field or a header that is not in the document is a
 * contradiction too. A request with an unknown path or method is held to the responses of a known one.
 */
export function contradictions(
  { paths }: Document,
  { method, path }: { readonly method: string; readonly path: string },
  response: RawResponse,
): string[] {
  const item = paths[path] ?? Object.values(paths)[0];
  const { responses } = item?.[method.toLowerCase()] ?? item?.get ?? { responses: {} };
  const documented = responses[response.status];
  if (documented === undefined) return [`${response.status} is not documented`];
  const content = method === "HEAD" ? undefined : documented.content;
  return [...inHeaders(documented, response.headers), ...inBody(content, response)];
}

function inHeaders({ headers: documented }: ResponseObject, headers: RawResponse["headers"]) {
  const described = Object.entries(documented).flatMap(([name, header]) => {
    const text = headers[name]?.toString();
    if (text === undefined) return header.required ? [`there is no ${name}`] : [];
    // OpenAPI's style "simple".
    const value = header.schema.type === "integer" ? Number(text) : text;
    return errorsOf(header, value).map((error) => `${name}: ${error}`);
  });
  const others = Object.keys(headers).filter(
    (name) => !HTTP_HEADERS.includes(name) && !(name in documented),
  );
  return [...described, ...others.map((name) => `${name} is not documented`)];
}

function inBody(content: ResponseObject["content"], response: RawResponse): string[] {
  const text = decode(response);
  if (content === undefined) return text === "" ? [] : ["there is a body"];
  const [mediaType = ""] = `${response.headers["content-type"]}`.split(";");
  const form = content[mediaType];
  if (form === undefined) return [`${mediaType} is not documented`];
  return errorsOf(form, mediaType === "application/json" ? JSON.parse(text) : text);
}

/** The text of a body that may be compressed. A response to HEAD or a 304 has no body to decode. */
function decode({ headers, bytes, text }: RawResponse): string {
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, zstd: zstdDecompressSync };
  const coding = headers["content-encoding"] as keyof typeof decoders | undefined;
  return coding === undefined || bytes.length === 0 ? text : decoders[coding](bytes).toString();
}
