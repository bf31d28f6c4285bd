/** What the OpenAPI document says besides the contract: about the API as a whole, and its headers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { isForPlatform } from "../../src/services.ts";
import type { DocumentParts } from "./document.ts";
import { errorResponses, errorSchemas } from "./errors.ts";
import { parameterDetails, responseExamples } from "./examples.ts";
import type { HeaderDetails, ResponseDetails } from "./responses.ts";

const { version }: { readonly version: string } = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
);

const DESCRIPTION = `What a provider of the marketplace earned: to the cent, and read-only. **The API is in beta**: until version 1.0 a minor version may change it. Responses may get new fields at any time, so ignore fields that you do not know.

## Authentication

Send an API key in exactly one of two headers: \`X-API-Key: KEY\` or \`Authorization: Bearer KEY\`. A request with both of them, or with one of them twice, is refused with 401. The response is about the provider that owns the key. The key is checked before the parameters.

## Numbers

- Amounts are in US dollars. They are JSON numbers with exactly the digits of the decimal: \`4500.00\`, not \`4500\`. Money has two digits after the decimal point, and \`pricePerHour\` has two to four. To calculate with them, parse JSON numbers as decimals rather than as doubles, for example with \`json.loads(text, parse_float=Decimal)\` in Python.
- Gross revenue is the sum of charges; a refund is a negative charge. The platform fee is 10 % of gross revenue, rounded once to the cent, half away from zero. Earnings are gross revenue minus the fee.
- Instants, days, months and years are in UTC, unless a request names a \`timeZone\`: then the days, and dates without an offset, are of that zone. Instants of responses are always in UTC.
- All figures of a response come from one snapshot of the database.
- A response has every field: zeros, empty strings and empty arrays included.
- With \`Accept: text/csv\` the response is CSV, with the same digits: a row for each entry of the list that the operation names. In the breakdown there is also a row per instance after its server's, which contains it: add up only the rows without an \`instanceId\`.

## Parameters

A query parameter may be given once. An unknown or repeated parameter is refused with 400. An empty parameter counts as omitted.

\`HEAD\` returns the status and the headers of \`GET\`, without its body, at every path.

## Errors and retries

Every request is safe to retry. Over REST retry 429, 500 and 503; over gRPC and Connect \`UNAVAILABLE\`, and \`RESOURCE_EXHAUSTED\` with \`Retry-After\`. Wait for the time in \`Retry-After\`, or a second, with a growing pause. Quote \`x-request-id\` when you report a problem.`;

/** An extension that documentation renderers show as a label of each operation. */
const BETA = { "x-badges": [{ name: "Beta" }] };

const text = (description: string, required?: true): HeaderDetails => ({
  description,
  ...(required && { required }),
  schema: { type: "string" },
});

const headers: Readonly<Record<string, HeaderDetails>> = {
  "x-request-id": {
    description:
      "Identifies the request in the service's log: the request's own `x-request-id` if it is one value of up to 128 letters, digits and `._:+=/-` and holds no key, otherwise a new UUID.",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9._:+=/-]{1,128}$" },
  },
  "cache-control": {
    description:
      "`private, no-cache` with figures: a cache keeps them for the owner of the key only, and asks for each request. `no-store` otherwise.",
    required: true,
    schema: { type: "string", enum: ["private, no-cache", "no-store"] },
  },
  "x-content-type-options": {
    description: "Browsers use the content type as it is.",
    required: true,
    schema: { type: "string", const: "nosniff" },
  },
  etag: {
    description: "The entity tag of the figures, for `If-None-Match`.",
    required: true,
    schema: { type: "string", pattern: '^W/"[A-Za-z0-9_-]+"$' },
  },
  vary: {
    description: "The headers of the request that choose the form of the response.",
    required: true,
    schema: { type: "string" },
  },
  "content-encoding": {
    description: "The compression, if the request's `Accept-Encoding` asks for one.",
    schema: { type: "string", enum: ["br", "zstd", "gzip"] },
  },
  "data-as-of": {
    description: "The instant of the database's snapshot that the figures come from.",
    required: true,
    schema: { type: "string", format: "date-time" },
  },
  "next-page-token": text(
    "Of a list in pages: the `pageToken` of the next page, if there is one. In JSON it is also `nextPageToken`.",
  ),
  "error-reason": text(
    "Why a request was refused, for programs: `INVALID_ARGUMENT`, `OVERLOADED`.",
  ),
  "retry-after": {
    description: "Seconds to wait before the next attempt.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  "www-authenticate": {
    description: "The authentication scheme.",
    required: true,
    schema: { type: "string", const: "Bearer" },
  },
  allow: {
    description: "The methods of the path.",
    required: true,
    schema: { type: "string", const: "GET, HEAD" },
  },
  "ratelimit-policy": text(
    'The rate limit of the provider, if the operator has set one: `"default";q=100;w=10` is 100 requests in 10 seconds.',
  ),
  "x-provider-id": text("To a service key: the provider that the figures are of."),
  ratelimit: text(
    'What is left of the rate limit: `"default";r=50;t=5` is 50 requests, and all of them again in 5 seconds; if none is left, `t` is the time until the next one.',
  ),
};

/** The headers of a response with figures, or that they are the same. */
const onFigures = [
  "data-as-of",
  "etag",
  "vary",
  "next-page-token",
  "ratelimit-policy",
  "ratelimit",
];

const NOT_MODIFIED: ResponseDetails = {
  status: 304,
  name: "NotModified",
  description: "The figures are those of the entity tag in `If-None-Match`.",
  headers: onFigures,
};

const SERVICE_KEYS = `

## Service keys

A service of the platform has a service key (\`rvs_\` and 49 letters and digits), and names the provider of each request in the header \`x-provider-id\`. The response is the same as with that provider's own key. An unknown provider is 404, and a provider's own key with another id 403. \`/api/platform/revenue\` is about all providers, for service keys alone, and takes no such header.`;

const X_PROVIDER_ID = {
  name: "x-provider-id",
  in: "header",
  description:
    "With a service key, required: the number of the provider. A provider's own key needs none.",
  schema: { type: "string", pattern: "^[1-9][0-9]{0,19}$" },
};

const IF_NONE_MATCH = {
  name: "if-none-match",
  in: "header",
  description: "The `etag` of an earlier response. If the figures are the same, the status is 304.",
  schema: { type: "string" },
};

/** Headers by name, without that of service keys where they are not accepted. */
function headersOf(serviceKeys: boolean): typeof headers {
  const { "x-provider-id": provider, ...others } = headers;
  return serviceKeys && provider ? { ...others, "x-provider-id": provider } : others;
}

/**
 * All of it.
 *
 * @param serviceKeys whether the port accepts service keys
 */
export const documentParts = (
  services: readonly DescService[],
  serviceKeys: boolean,
): DocumentParts => ({
  info: {
    // Generators name packages by it (revenue_api_client in Python), and these outlive the beta.
    title: "Revenue API",
    version,
    summary: "What a provider earned, to the cent",
    description: DESCRIPTION + (serviceKeys ? SERVICE_KEYS : ""),
    contact: { name: "The operator of the service" },
    license: { name: "Apache License 2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
  },
  // An imported copy has no address of its own, and tools take the first server. The page takes the last.
  servers: [
    {
      url: "{address}",
      description: "Any service, by its address",
      variables: { address: { default: "http://127.0.0.1:8080", description: "Its base address" } },
    },
    { url: ".", description: "The service that serves this document" },
  ],
  securitySchemes: {
    apiKey: {
      type: "apiKey",
      in: "header",
      name: "X-API-Key",
      description: "An API key: `rvk_` and 49 letters and digits.",
    },
    bearer: { type: "http", scheme: "bearer", description: "The same API key as a bearer token." },
  },
  operation: BETA,
  headers: headersOf(serviceKeys),
  always: ["x-request-id", "cache-control", "x-content-type-options"],
  onSuccess: [...onFigures, "content-encoding", ...(serviceKeys ? ["x-provider-id"] : [])],
  requestHeaders: (method) =>
    serviceKeys && !isForPlatform(method) ? [IF_NONE_MATCH, X_PROVIDER_ID] : [IF_NONE_MATCH],
  responses: [NOT_MODIFIED, ...errorResponses(services, serviceKeys)],
  schemas: errorSchemas,
  parameters: parameterDetails,
  examples: Object.fromEntries(
    services.flatMap(({ methods }) => methods).map(({ name }) => [name, responseExamples(name)]),
  ),
});
