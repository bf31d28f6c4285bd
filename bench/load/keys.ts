/** Which API keys the load generators of both protocols send. */

/** Connections, each of which sends its next request when the response to the last one has come. */
export interface Load {
  readonly connections: number;
  /** The API key of the next request of a connection, which is numbered from 0. */
  readonly drawKey: (connection: number) => string;
}

/** Each connection uses one key: the first for the first one, and so on, in turn. */
export function oneKeyEach(connections: number, keys: readonly string[]): Load {
  return { connections, drawKey: (connection) => keys[connection % keys.length] ?? "" };
}
