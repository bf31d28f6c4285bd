/**
 * The responses of the REST API other than success, in the OpenAPI document. Their bodies and headers
 * are those that the gateway makes of the error catalogue (src/errors.ts).
 */
import { STATUS_CODES } from "node:http";
import type { DescService } from "@bufbuild/protobuf";
import { checkPlatformCaller } from "../../src/auth/provider.ts";
import { ServiceError, type ServiceErrorKind } from "../../src/errors.ts";
import { errorResponse, methodNotAllowed, notFound } from "../../src/gateway/errors.ts";
import { READ_METHODS } from "../../src/gateway/path.ts";
import type { HttpResponse } from "../../src/gateway/response.ts";
import { pathsToName } from "../../src/gateway/rest/unmatched.ts";
import { bindRoutes } from "../../src/gateway/transcoding/routes.ts";
import { parsePeriod } from "../../src/revenue/period.ts";
import { parseJson } from "./json.ts";
import type { ResponseDetails } from "./responses.ts";

/** The schemas of error bodies. `Error` alone is a type of many languages already. */
export const errorSchemas = {
  ErrorResponse: {
    type: "object",
    description: "Why a request was refused.",
    required: ["error", "message"],
    properties: {
      error: { type: "string", description: "The reason phrase of the status." },
      message: { type: "string", description: "What is wrong, and what would be right." },
    },
  },
  InternalErrorResponse: {
    type: "object",
    description: "A fault of the service. The cause is in its log only, under `x-request-id`.",
    required: ["error"],
    properties: { error: { type: "string", description: "The same text for every fault." } },
  },
};

interface Example {
  readonly summary: string;
  readonly response: HttpResponse;
}

const ofKind = (kind: ServiceErrorKind) => errorResponse(new ServiceError(kind));

/** The response to a request that is refused by the binder, the service or the pipeline. */
function refused(run: () => unknown): HttpResponse {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return errorResponse(error);
    const { message } = error as Error;
    return errorResponse(new ServiceError("invalidArgument", message));
  }
  throw new Error("the request of an example was not refused");
}

/** Each error that a REST caller can see. `bind` binds the query of a breakdown. */
const examplesOf = (
  bind: (query: string) => unknown,
  paths: readonly string[],
): Readonly<Record<string, Example>> => ({
  malformedDate: {
    summary: "A date that does not exist",
    response: refused(() => parsePeriod("2026-02-30", "")),
  },
  startAfterEnd: {
    summary: "A start after the end",
    response: refused(() => parsePeriod("2026-11-20", "2026-11-01")),
  },
  unknownParameter: {
    summary: "An unknown parameter",
    response: refused(() => bind("start=2026-11-01")),
  },
  repeatedParameter: {
    summary: "A repeated parameter",
    response: refused(() => bind("endDate=2026-11-01&endDate=2026-11-20")),
  },
  unauthenticated: { summary: "No valid API key", response: ofKind("unauthenticated") },
  permissionDenied: { summary: "Another provider's id", response: ofKind("permissionDenied") },
  forServiceKeys: {
    summary: "A provider's key, about all providers",
    response: refused(() =>
      checkPlatformCaller({ kind: "provider", id: "1", providerId: "1" }, []),
    ),
  },
  providerNotFound: { summary: "An unknown provider", response: ofKind("providerNotFound") },
  notFound: { summary: "An unknown path", response: notFound(paths) },
  methodNotAllowed: { summary: "Another method", response: methodNotAllowed(READ_METHODS) },
  notAcceptable: { summary: "Neither JSON nor CSV", response: ofKind("notAcceptable") },
  messageTooLarge: { summary: "A large body", response: ofKind("messageTooLarge") },
  rateLimited: { summary: "The rate limit is spent", response: ofKind("rateLimited") },
  tooManyCalls: { summary: "Too many calls in flight", response: ofKind("tooManyCalls") },
  tooManyFailures: { summary: "Too many invalid keys", response: ofKind("tooManyFailures") },
  internal: { summary: "Any fault", response: ofKind("internal") },
  overloaded: { summary: "The service is overloaded", response: ofKind("overloaded") },
});

/** The examples of a port that accepts service keys. */
const OF_SERVICE_KEYS = ["permissionDenied", "forServiceKeys", "providerNotFound"];

/** When each status is sent. */
const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request is invalid: a malformed date, a start after the end, an unknown or repeated parameter, or not valid HTTP. The message names the parameter, the value received and what was expected.",
  401: "There is no valid API key: it is missing, malformed, unknown, expired or revoked, or was sent more than once. The response is the same for all of these.",
  403: "The key is a provider's, and `x-provider-id` is not its own, or the operation is for service keys alone.",
  404: "There is no resource at this path. The message names the paths that there are.",
  405: "The path does not have this method.",
  406: "The request's `Accept` allows neither JSON nor CSV.",
  413: "The request declares a body of more than 64 KiB. A smaller one is ignored.",
  429: "Too many requests: of the provider per second or at once, or with an invalid API key from this address. No work was done.",
  500: "The figures could not be read, for example because the database is unavailable. Safe to retry.",
  503: "The service is overloaded. No work was done.",
};

/** The responses of each operation of services, by status. */
export function errorResponses(
  services: readonly DescService[],
  serviceKeys: boolean,
): readonly ResponseDetails[] {
  const routes = bindRoutes(services);
  const breakdown = routes.find(({ method }) => method.name === "GetServerBreakdown");
  const paths = pathsToName(services, routes);
  const all = Object.entries(examplesOf((query) => breakdown?.bind(query), paths));
  const shown = all.filter(([name]) => serviceKeys || !OF_SERVICE_KEYS.includes(name));
  return Object.entries(DESCRIPTIONS).flatMap(([text, description]) => {
    const status = Number(text);
    const examples = shown.filter(([, { response }]) => response.status === status);
    if (examples.length === 0) return [];
    const bodies = examples.map(([name, { summary, response }]) => [
      name,
      { summary, value: parseJson(response.body) },
    ]);
    const { error, message } = JSON.parse(examples[0]?.[1].response.body ?? "{}");
    const headers = new Set(examples.flatMap(([, { response }]) => Object.keys(response.headers)));
    return {
      status,
      name: String(message === undefined ? STATUS_CODES[status] : error).replaceAll(/\W/g, ""),
      description,
      headers: [...headers, ...(status === 429 ? ["ratelimit-policy", "ratelimit"] : [])],
      schema: message === undefined ? "InternalErrorResponse" : "ErrorResponse",
      examples: Object.fromEntries(bodies),
    };
  });
}
