/** A message of gRPC and gRPC-Web, as bytes. */

/** A length-prefixed message: flags, length, bytes. */
export function frame(message: Uint8Array, flags = 0): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
