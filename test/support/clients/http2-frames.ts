/** HTTP/2 frames and messages of a gRPC client, as bytes: https://www.rfc-editor.org/rfc/rfc9113.html */

import { FRAME_HEADER, frame, PREFACE } from "../../../dev/http2-frame.ts";

export { frame, PREFACE };

/** The path of the calls. */
const OVERVIEW = "/revenue.v1.RevenueService/GetOverview";

/** SETTINGS without a setting, and the acknowledgement of the server's. */
export const SETTINGS = frame(4, 0, 0);
export const SETTINGS_ACK = frame(4, 1, 0);

const literal = (text: string) => Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);

/** SETTINGS and WINDOW_UPDATE of a client that lets the server send without a limit. */
export const NO_FLOW_CONTROL = Buffer.concat([
  frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])),
  frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0, 0])),
]);

/** HEADERS of a gRPC call, with more bytes in their block. */
export function headers(
  stream: number,
  end: boolean,
  path = OVERVIEW,
  key?: string,
  more: Buffer = Buffer.alloc(0),
): Buffer {
  const fields: (readonly [string, string])[] = [
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "a"],
    ["content-type", "application/grpc"],
    ["te", "trailers"],
  ];
  if (key !== undefined) fields.push(["x-api-key", key]);
  const block = fields.map(([name, value]) => field(name, value));
  return frame(1, end ? 5 : 4, stream, Buffer.concat([...block, more]));
}

/** A header of up to 126 characters, as HPACK literals without indexing (RFC 7541, section 6.2.2). */
export function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), literal(name), literal(value)]);
}

/** RST_STREAM with the code CANCEL. */
export function reset(stream: number): Buffer {
  return frame(3, 0, stream, Buffer.from([0, 0, 0, 8]));
}

/** The complete frames that bytes begin with. */
export function framesIn(bytes: Buffer) {
  const frames: { type: number; flags: number; id: number; payload: Buffer }[] = [];
  for (let at = 0; at + FRAME_HEADER <= bytes.length; ) {
    const end = at + FRAME_HEADER + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes.readUInt8(at + 3),
      flags: bytes.readUInt8(at + 4),
      id: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + FRAME_HEADER, end),
    });
    at = end;
  }
  return frames;
}

/** A message of gRPC and gRPC-Web: flags, length, bytes. */
export function grpcMessage(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
