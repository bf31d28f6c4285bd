/**
 * The OpenAPI document of a service: what the transcoder serves, from the same routes.
 *
 * Words come from the comments of the contract, paths and parameters from its `google.api.http`
 * annotations and its messages. What a contract does not say is passed in as data.
 *
 * @see https://spec.openapis.org/oas/v3.1.1.html
 */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { CSV_ROWS } from "../../src/gateway/csv-rows.ts";
import { bindRoutes, type Route } from "../../src/gateway/transcoding/routes.ts";
import { commentOf, summaryOf, withoutName } from "./comments.ts";
import type { JsonObject } from "./json.ts";
import { collectSchemas, type MessageSchemas } from "./message-schemas.ts";
import { type DetailsByField, parametersOf } from "./parameters.ts";
import {
  type Examples,
  type Form,
  type HeaderDetails,
  headerObject,
  JSON_TYPE,
  type ResponseDetails,
  responseObject,
  successObject,
} from "./responses.ts";

const CSV_TYPE = "text/csv";

/** What a document has besides the contract. */
export interface DocumentParts {
  /** The Info Object. */
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  /** Security Scheme Objects by name. Any one of them authenticates a request. */
  readonly securitySchemes: Readonly<Record<string, JsonObject>>;
  /** Fields of every Operation Object: extensions. */
  readonly operation: JsonObject;
  /** All headers of responses, by name. */
  readonly headers: Readonly<Record<string, HeaderDetails>>;
  /** The names of the headers of every response, and of those of success. */
  readonly always: readonly string[];
  readonly onSuccess: readonly string[];
  /** The responses of every operation other than success. */
  readonly responses: readonly ResponseDetails[];
  /** Schemas that `responses` refer to, by name. */
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly parameters: DetailsByField;
  /** Header parameters of an operation. */
  readonly requestHeaders: (method: DescMethod) => readonly JsonObject[];
  /** Successful responses by the name of the RPC and by media type. */
  readonly examples: Readonly<Record<string, Readonly<Record<string, Examples>>>>;
}

/**
 * The document of services of one package. Throws an Error if an annotation of one cannot be served, if
 * their descriptors have no source information, or if `parts` names something that does not exist.
 */
export function createDocument(services: readonly DescService[], parts: DocumentParts): JsonObject {
  const routes = bindRoutes(services, CSV_ROWS);
  checkNames(services, parts);
  const messages = collectSchemas(services[0]?.file.proto.package ?? "");
  const paths = routes.map((route) => [route.path, pathItem(route, messages, parts)]);
  return {
    openapi: "3.1.1",
    info: parts.info,
    servers: parts.servers,
    tags: services.map((service) => ({
      name: service.name,
      description: withoutName(commentOf(service), service.name).split("\n\n", 1)[0],
    })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: { ...messages.schemas, ...parts.schemas },
      responses: Object.fromEntries(
        parts.responses.map((details) => [details.name, responseObject(details, parts.always)]),
      ),
      headers: Object.fromEntries(
        Object.entries(parts.headers).map(([name, details]) => [name, headerObject(details)]),
      ),
      securitySchemes: parts.securitySchemes,
    },
  };
}

/** A route as a Path Item Object. HEAD is not an operation of it: generators would make each method twice. */
function pathItem(route: Route, messages: MessageSchemas, parts: DocumentParts): JsonObject {
  const { method } = route;
  const { always, onSuccess, responses } = parts;
  const comment = withoutName(commentOf(method), method.name);
  const success = summaryOf(commentOf(method.output)) || method.output.name;
  const headers = [...always, ...onSuccess];
  const parameters = [...parametersOf(route, parts.parameters), ...parts.requestHeaders(method)];
  return {
    ...(parameters.length > 0 && { parameters }),
    get: {
      operationId: method.localName,
      summary: summaryOf(comment),
      description: comment,
      tags: [method.parent.name],
      security: Object.keys(parts.securitySchemes).map((name) => ({ [name]: [] })),
      ...parts.operation,
      responses: {
        200: successObject(success, headers, formsOf(route, messages, parts)),
        ...byStatus(responses, ({ name }) => ({ $ref: `#/components/responses/${name}` })),
      },
    },
  };
}

/** The forms of a successful response, the default first. */
function formsOf(
  { method, writeCsv }: Route,
  messages: MessageSchemas,
  { examples }: DocumentParts,
): readonly Form[] {
  const shown = examples[method.name] ?? {};
  const json = messages.refer(method.output);
  const forms = [{ mediaType: JSON_TYPE, schema: json, examples: shown[JSON_TYPE] }];
  if (writeCsv === undefined) return forms;
  return [...forms, { mediaType: CSV_TYPE, schema: csvSchema(method), examples: shown[CSV_TYPE] }];
}

function csvSchema({ name, output }: DescMethod): JsonObject {
  const lists = output.fields.filter((field) => field.fieldKind === "list");
  const rows = lists.find((field) => field.name === (CSV_ROWS[name] ?? field.name))?.jsonName;
  const description = `CSV (RFC 4180) with a header row of JSON names, and a row for each entry of \`${rows}\`, with the digits of the JSON.`;
  return { type: "string", description };
}

function byStatus(
  responses: readonly ResponseDetails[],
  write: (details: ResponseDetails) => JsonObject,
): JsonObject {
  return Object.fromEntries(responses.map((details) => [details.status, write(details)]));
}

/** Stops details of a parameter, or examples of an RPC, that was renamed or removed. */
function checkNames(
  services: readonly DescService[],
  { parameters, examples }: DocumentParts,
): void {
  const methods = services.flatMap(({ methods }) => methods);
  const fields = methods.flatMap(({ input }: DescMethod) => input.fields.map(({ name }) => name));
  const unknown = [
    ...Object.keys(parameters).filter((name) => !fields.includes(name)),
    ...Object.keys(examples).filter((name) => methods.every((one) => one.name !== name)),
  ];
  if (unknown.length > 0) throw new Error(`the contract has no ${unknown.join(", ")}`);
}
