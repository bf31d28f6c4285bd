/** The error of the transcoder for what the client got wrong. */

/**
 * A request that cannot be transcoded. The message is for the client: it names the parameter, what
 * was received and what is expected.
 */
export class RequestError extends Error {
  override readonly name = "RequestError";
}
