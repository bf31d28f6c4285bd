/** One gRPC call over HTTP/2 with the headers and the body sent exactly as given. */
import { connect, type IncomingHttpHeaders } from "node:http2";
import { buffer } from "node:stream/consumers";
import { status } from "@grpc/grpc-js";
import type { RequestHeaders } from "../request.ts";

/** A call to make. */
export interface RawGrpcRequest {
  /** POST by default. */
  readonly method?: string;
  readonly path: string;
  /** In addition to `te`. A name may occur more than once. */
  readonly headers: RequestHeaders;
  readonly body?: string | Uint8Array;
}

/** A complete response. */
export interface RawGrpcResponse {
  /** The status of HTTP. */
  readonly http: number;
  /** The name of gRPC's code; empty if there is none. */
  readonly code: string;
  readonly message: string;
  readonly bytes: Buffer;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
}

/** Allows sending a header twice. The types lack this option of `connect`. */
const ALLOW_REPEATED: object = { strictSingleValueFields: false };

/** Makes the call to an address, on a connection of its own. */
export async function rawGrpc(
  address: string,
  { method = "POST", path, headers, body }: RawGrpcRequest,
): Promise<RawGrpcResponse> {
  const session = connect(`http://${address}`, ALLOW_REPEATED);
  try {
    const stream = session.request(
      [":method", method, ":path", path, "te", "trailers", ...headers.flat()],
      { endStream: false },
    );
    const received: { headers: IncomingHttpHeaders; trailers: IncomingHttpHeaders } = {
      headers: {},
      trailers: {},
    };
    stream.on("response", (headers) => Object.assign(received, { headers }));
    stream.on("trailers", (trailers) => Object.assign(received, { trailers }));
    stream.end(body);
    const bytes = await buffer(stream);
    const all = { ...received.headers, ...received.trailers };
    return {
      ...received,
      http: Number(received.headers[":status"]),
      code: status[Number(all["grpc-status"])] ?? "",
      message: decodeURIComponent(`${all["grpc-message"] ?? ""}`),
      bytes,
    };
  } finally {
    session.destroy();
  }
}
