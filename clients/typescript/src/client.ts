/** The client: Connect over fetch, with the API key, a deadline and retries. */
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { PlatformRevenueService } from "../../../gen/revenue/v1/platform_pb.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { createRetry, RETRIES } from "./retry.ts";

/** An API key, or a function that returns the current one: it is called for each attempt. */
export type ApiKey = string | (() => string | Promise<string>);

/** Who calls: a provider with its own key, or a service of the platform about some provider. */
export type RevenueCaller =
  | {
      /** A provider's key. Sent as `Authorization: Bearer KEY`, and nowhere else. */
      readonly apiKey: ApiKey;
      readonly serviceKey?: undefined;
      readonly providerId?: undefined;
    }
  | {
      /** A service key, where the HTTP port accepts them. Sent as `Authorization: Bearer KEY`, and nowhere else. */
      readonly serviceKey: ApiKey;
      /** The provider that calls are about: `providers.id`, as digits or as a bigint, because a number is not exact. */
      readonly providerId: string | bigint;
      readonly apiKey?: undefined;
    };

/** How a client calls. */
interface ConnectionOptions {
  /** The service: `https://revenue.example.com`. */
  readonly baseUrl: string;
  /** The deadline of a call with all its retries, in ms. 30 s by default. */
  readonly timeoutMs?: number;
  /** How often a call is repeated; 3 by default, 0 for never. */
  readonly retries?: number;
  /** Sends the requests; the global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch;
}

/** The options of a client. */
export type RevenueClientOptions = RevenueCaller & ConnectionOptions;

/** The options of a client about all providers. */
export interface PlatformClientOptions extends ConnectionOptions {
  /** A service key, where the HTTP port accepts them. Sent as `Authorization: Bearer KEY`, and nowhere else. */
  readonly serviceKey: ApiKey;
}

/**
 * Creates a client. Its calls throw a ConnectError: `code` says what went wrong, `rawMessage` is
 * the service's text, and `metadata` has the headers (`x-request-id`, `retry-after`).
 *
 * @throws Error if `baseUrl` is not an HTTP URL, or `providerId` no number of a provider
 */
export function createRevenueClient(options: RevenueClientOptions): Client<typeof RevenueService> {
  return createClient(RevenueService, createRevenueTransport(options));
}

/**
 * Creates a client about all providers. Its calls throw as those of `createRevenueClient`.
 *
 * @throws Error if `baseUrl` is not an HTTP URL
 */
export function createPlatformClient(
  options: PlatformClientOptions,
): Client<typeof PlatformRevenueService> {
  return createClient(PlatformRevenueService, createTransport(options, options.serviceKey));
}

/**
 * Creates the transport of a client, for other clients of Connect-ES.
 *
 * @throws Error if `baseUrl` is not an HTTP URL, or `providerId` no number of a provider
 */
export function createRevenueTransport(options: RevenueClientOptions): Transport {
  const { apiKey, serviceKey, providerId } = options;
  const provider = providerId === undefined ? undefined : String(providerId);
  if (provider !== undefined && !/^[1-9]\d{0,19}$/.test(provider)) {
    throw new Error("providerId is no number of a provider; expected digits such as 7");
  }
  return createTransport(options, apiKey ?? serviceKey, provider);
}

function createTransport(
  { baseUrl, timeoutMs = 30_000, retries = RETRIES, fetch = globalThis.fetch }: ConnectionOptions,
  key: ApiKey,
  provider?: string,
): Transport {
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
    const what = baseUrl === "" ? "is empty" : "is not a valid URL";
    throw new Error(`baseUrl ${what}; expected one like https://revenue.example.com`);
  }
  return createConnectTransport({
    baseUrl,
    useBinaryFormat: true,
    defaultTimeoutMs: timeoutMs,
    // The first is the outermost: each attempt asks for the key again.
    interceptors: [createRetry(retries), createAuthorization(key, provider)],
    fetch: createReachingFetch(fetch),
  });
}

function createAuthorization(apiKey: ApiKey, provider: string | undefined): Interceptor {
  return (next) => async (request) => {
    const key = typeof apiKey === "string" ? apiKey : await apiKey();
    // The error of Headers.set would contain the key.
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new ConnectError("the API key is empty, or no API key", Code.Unauthenticated);
    }
    request.header.set("authorization", `Bearer ${key}`);
    if (provider !== undefined) request.header.set("x-provider-id", provider);
    return next(request);
  };
}

/**
 * A request to which no complete response was received is UNAVAILABLE: fetch throws a plain TypeError,
 * and so does the body of its response.
 */
function createReachingFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      return response.body ? new Response(await response.arrayBuffer(), response) : response;
    } catch (cause) {
      if (init?.signal?.aborted) throw cause;
      const message = "the service cannot be reached";
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
    }
  };
}
