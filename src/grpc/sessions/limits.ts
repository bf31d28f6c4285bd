/** The limits of a connection to the gRPC port, and their defaults. */

/** The default of `prefaceTimeout`. */
export const PREFACE_TIMEOUT = 10_000;
/** The default of `requestTimeout`. */
export const REQUEST_TIMEOUT = 15_000;
/** The default of `responseTimeout`. */
export const RESPONSE_TIMEOUT = 45_000;
/** The default of `maxStreams`. */
export const MAX_STREAMS = 250;
/** The default of `maxCancels`. */
export const MAX_CANCELS = 5_000;
/** The default of `maxHeaderSize`: 16 KiB. */
export const MAX_HEADER_SIZE = 16 * 1024;
/** The default of `maxUnreadPerConnection`: 1 MiB. */
export const MAX_UNREAD_PER_CONNECTION = 1024 * 1024;

/** Limits of each connection. Times are in ms. */
export interface SessionLimits {
  /** From the connection's start until the client has sent its preface and acknowledged SETTINGS. */
  readonly prefaceTimeout: number;
  /** From a stream's headers until its request message is complete. */
  readonly requestTimeout: number;
  /** How long the client may take to read a response. */
  readonly responseTimeout: number;
  /** Open streams. */
  readonly maxStreams: number;
  /** Cancelled calls after which the connection is closed gracefully. */
  readonly maxCancels: number;
  /** All headers of a request together, in bytes. */
  readonly maxHeaderSize: number;
  /** Unread response bytes from which further calls wait. */
  readonly maxUnreadPerConnection: number;
}

/** The limits, with defaults for those that are not given. */
export function sessionLimits(given: Partial<SessionLimits>): SessionLimits {
  return {
    prefaceTimeout: given.prefaceTimeout ?? PREFACE_TIMEOUT,
    requestTimeout: given.requestTimeout ?? REQUEST_TIMEOUT,
    responseTimeout: given.responseTimeout ?? RESPONSE_TIMEOUT,
    maxStreams: given.maxStreams ?? MAX_STREAMS,
    maxCancels: given.maxCancels ?? MAX_CANCELS,
    maxHeaderSize: given.maxHeaderSize ?? MAX_HEADER_SIZE,
    maxUnreadPerConnection: given.maxUnreadPerConnection ?? MAX_UNREAD_PER_CONNECTION,
  };
}
