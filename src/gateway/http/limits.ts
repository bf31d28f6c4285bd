/** Limits of the HTTP port. Times in milliseconds, sizes in bytes. */

/** The limits of the service. */
export const HTTP_LIMITS = {
  /** All headers together, the request line included. */
  maxHeaderSize: 16 * 1024,
  /** From the first byte of a request (or the start of the connection) to the end of its headers. */
  headersTimeout: 10_000,
  /** From the same instant to the end of the request. Bodies are small or not read. */
  requestTimeout: 15_000,
  /** How often the two are checked. With Node's 30 s, a timeout of 10 s could take 40 s. */
  connectionsCheckingInterval: 1000,
  /** Idle time between requests, unless it is set otherwise. */
  keepAliveTimeout: 72_000,
  /** Silence in both directions during a request: longer than the longest `MAX_CALL_MS`. */
  connectionTimeout: 30_000,
  /** One exchange, until the client has received the last byte, however slowly it reads. */
  responseTimeout: 45_000,
};

/** Limits of the HTTP port. */
export type HttpLimits = typeof HTTP_LIMITS;
