/**
 * A request that cannot be transcoded. The message is for the caller: it names the parameter, what
 * was received and what is expected.
 */
export class RequestError extends Error {
  override readonly name = "RequestError";
}
