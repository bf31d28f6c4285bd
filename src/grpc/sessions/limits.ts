/** The limits of a connection to the gRPC port, and of one that speaks HTTP/2 to the HTTP port. */

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

/** The limits of the service. */
export const SESSION_LIMITS: SessionLimits = {
  prefaceTimeout: 10_000,
  requestTimeout: 15_000,
  responseTimeout: 45_000,
  maxStreams: 250,
  maxCancels: 5_000,
  maxHeaderSize: 16 * 1024,
  maxUnreadPerConnection: 1024 * 1024,
};
