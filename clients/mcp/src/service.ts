/** Calls of the service over REST. The body of a response goes to the model as it came, digit by digit. */

/** Where the service is, and the key of the provider that is asked about. */
export interface Configuration {
  /** Without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

/** The longest call, in ms: the service's own limit, and the way there and back. */
const DEADLINE = 15_000;

/**
 * Reads the configuration.
 *
 * @returns the configuration, or what is wrong with it: all mistakes at once
 */
export function readConfiguration(
  environment: Readonly<Record<string, string | undefined>>,
): Configuration | readonly string[] {
  const { REVENUE_URL: url = "", REVENUE_API_KEY: key = "" } = environment;
  const mistakes: string[] = [];
  // What is there is not told: it may be the key.
  const { protocol, username, search, hash } = URL.parse(url) ?? { protocol: "" };
  if (!/^https?:$/.test(protocol) || username || search || hash) {
    const what = url === "" ? "is not set" : "is no address of HTTP";
    mistakes.push(`REVENUE_URL ${what}; expected one like https://revenue.example.com`);
  }
  if (!/^rvk_[0-9A-Za-z]{49}$/.test(key)) {
    const isService = key.startsWith("rvs_");
    const what = key === "" ? "is not set" : isService ? "is a service key" : "is no API key";
    mistakes.push(`REVENUE_API_KEY ${what}; expected a provider's: rvk_ and 49 letters and digits`);
  }
  return mistakes.length > 0 ? mistakes : { url: url.replace(/\/+$/, ""), key };
}

/**
 * Asks the service.
 *
 * @param target path and query
 * @returns the JSON of the response, as text
 * @throws Error whose message says what is wrong, and when to try again
 */
export async function ask(
  { url, key }: Configuration,
  target: string,
  signal: AbortSignal,
): Promise<string> {
  const { response, text } = await send(url + target, key, signal);
  const isJson = /^application\/json\b/.test(response.headers.get("content-type") ?? "");
  if (response.ok && isJson) return text;
  if (!isJson) throw new Error(`${response.status} without JSON: is ${url} the revenue service?`);
  const { error, message = error } = JSON.parse(text) as Record<"error" | "message", string>;
  const seconds = response.headers.get("retry-after");
  const retry = seconds !== null ? `; try again in ${seconds} s` : "";
  const id = response.headers.get("x-request-id");
  throw new Error(`${response.status} ${message}${retry} (request ${id})`);
}

async function send(address: string, key: string, signal: AbortSignal) {
  try {
    const response = await fetch(address, {
      headers: { accept: "application/json", "x-api-key": key },
      // The service has no redirects, and the key must not go to another address.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]),
    });
    return { response, text: await response.text() };
  } catch (thrown) {
    const { cause, message } = thrown as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Error(`the service cannot be reached at ${new URL(address).origin}: ${reason}`);
  }
}
