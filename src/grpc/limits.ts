/** Limits of the gRPC port, which is the platform's own. Times are in ms. */

/** The limits of the service. */
export const GRPC_LIMITS = {
  /** Open connections. A proxy that speaks HTTP/2 has some, one that does not has one for each call. */
  maxConnections: 400,
  /** Open streams of one connection: calls, and a health watch. */
  maxStreamsPerConnection: 50,
  /** The age at which a connection ends, give or take a tenth. 0 for none. */
  maxConnectionAge: 0,
  /** How often a connection is pinged. */
  keepalive: 60_000,
  /** How long the reply to it may take. */
  keepaliveReply: 20_000,
};

/** Limits of the gRPC port. */
export type GrpcLimits = typeof GRPC_LIMITS;
