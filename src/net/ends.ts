/** What an open connection is known by. */
import type { Socket } from "node:net";

type Ends = {
  readonly [Field in "localAddress" | "localPort" | "remoteAddress" | "remotePort"]?:
    | Socket[Field]
    | undefined;
};

/** Both ends of a connection. A client may have one port for connections to several addresses of this host. */
export function endsOf({ localAddress, localPort, remoteAddress, remotePort }: Ends): string {
  return `${localAddress}:${localPort} ${remoteAddress}:${remotePort}`;
}
