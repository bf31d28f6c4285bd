/** Limits of the gRPC port. Times are in ms. */

/** The limits of the service. */
export const GRPC_LIMITS = {
  /** From the start of a connection, or the end of its handshake, until its preface has come. */
  prefaceTimeout: 10_000,
  /** From a stream's headers until its request is complete. */
  requestTimeout: 15_000,
  /** How long the client may take to read a response, or to close a connection that is closed here. */
  responseTimeout: 45_000,
  /** Open streams of one connection. */
  maxStreamsPerConnection: 100,
  /** Open streams of all connections: calls, and a health watch of each client. */
  maxStreams: 2_000,
  /** The age at which a connection is closed gracefully, give or take a tenth. Infinity for none. */
  maxConnectionAge: Number.POSITIVE_INFINITY,
  /** How often a connection is pinged. */
  keepalive: 60_000,
  /** How long the reply to it may take. */
  keepaliveReply: 20_000,
};

/** Limits of the gRPC port. */
export type GrpcLimits = typeof GRPC_LIMITS;
