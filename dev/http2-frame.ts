/** HTTP/2 frames as bytes, for clients of benchmarks and tests: https://www.rfc-editor.org/rfc/rfc9113.html */

/** The client preface: RFC 9113, section 3.4. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** The length of a frame's header, in bytes. */
export const FRAME_HEADER = 9;

const NOTHING: Uint8Array = Buffer.alloc(0);

/** A frame: RFC 9113, section 4.1. */
export function frame(type: number, flags: number, stream: number, payload = NOTHING): Buffer {
  const header = Buffer.alloc(FRAME_HEADER);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}
