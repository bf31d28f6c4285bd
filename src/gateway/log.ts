/**
 * What the gateway logs itself: requests that never become a call, and responses that cannot
 * be written. Calls are logged by the Rpc. Never a URL, a header or a body.
 */
export interface Log {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
