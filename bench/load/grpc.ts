/**
 * Load over gRPC. A client of grpc-js would cost more than the server and be the limit, so this one
 * sends frames of HTTP/2 that are made in advance, and reads of the responses only what tells their
 * end.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113
 */
import { connect, type Socket } from "node:net";
import { FRAME_HEADER, frame, PREFACE } from "../../dev/http2-frame.ts";
import { RevenueService } from "../../gen/revenue/v1/revenue_pb.ts";
import type { Load } from "./rest.ts";

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 };
const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4 };
const INITIAL_WINDOW_SIZE = 4;
const MAX_WINDOW = 2 ** 31 - 1;
/** After how many bytes the connection's window is enlarged again. */
const WINDOW_STEP = 2 ** 24;
const EMPTY: Buffer = Buffer.alloc(0);
/** A gRPC message without bytes: not compressed, of length 0. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** Literal headers of HPACK, which enter the dynamic table or do not. */
const ADDED = 0x40;
const NOT_ADDED = 0x00;

/** Returns a load generator for an RPC: `calls` at once on each connection. Throws on a gRPC error. */
export function grpcLoad(port: number, rpc: string, { connections, key }: Load, calls = 1) {
  return async (seconds: number): Promise<number> => {
    const end = performance.now() + seconds * 1_000;
    const counts = await Promise.all(
      Array.from({ length: connections }, () => callUntil(end, port, rpc, key, calls)),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
}

/** Calls an RPC over one connection, again and again. Resolves to the number of calls. */
function callUntil(
  end: number,
  port: number,
  rpc: string,
  key: string,
  calls: number,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const headerBlock = createHeaderBlocks(`/${RevenueService.typeName}/${rpc}`);
  let started = 0;
  let count = 0;
  /** The streams whose message has begun to arrive. */
  const answered = new Set<number>();
  let requests: Buffer[] = [];
  let unacknowledged = 0;

  const call = () => {
    const stream = 2 * started++ + 1;
    // The calls that follow the responses of one read are one write, as those of a client are.
    if (requests.length === 0) queueMicrotask(sendRequests);
    requests.push(
      frame(TYPE.headers, FLAG.endHeaders, stream, headerBlock(key)),
      frame(TYPE.data, FLAG.endStream, stream, EMPTY_MESSAGE),
    );
  };
  const sendRequests = () => {
    socket.write(Buffer.concat(requests));
    requests = [];
  };
  const onFrame: OnFrame = (type, flags, stream, payload) => {
    if (type === TYPE.settings && !(flags & FLAG.ack)) {
      socket.write(frame(TYPE.settings, FLAG.ack, 0));
    } else if (type === TYPE.ping && !(flags & FLAG.ack)) {
      socket.write(frame(TYPE.ping, FLAG.ack, 0, payload));
    } else if (type === TYPE.reset || type === TYPE.goAway) {
      throw new Error(`the server ended a ${type === TYPE.reset ? "call" : "connection"}`);
    } else if (type === TYPE.data) {
      answered.add(stream);
      unacknowledged += payload.length;
      if (unacknowledged < WINDOW_STEP) return;
      socket.write(frame(TYPE.windowUpdate, 0, 0, uint32(unacknowledged)));
      unacknowledged = 0;
    } else if (type === TYPE.headers && flags & FLAG.endStream) {
      // A response with an error has no message.
      if (!answered.delete(stream)) throw new Error(`${rpc} failed`);
      count++;
      if (performance.now() < end) call();
      else if (count === started) socket.destroy();
    }
  };

  const settings = Buffer.concat([Buffer.from([0, INITIAL_WINDOW_SIZE]), uint32(MAX_WINDOW)]);
  socket.write(
    Buffer.concat([
      PREFACE,
      frame(TYPE.settings, 0, 0, settings),
      frame(TYPE.windowUpdate, 0, 0, uint32(MAX_WINDOW - 65_535)),
    ]),
  );
  for (let i = 0; i < calls; i++) call();
  readFrames(socket, onFrame);
  socket.on("error", reject);
  socket.on("close", () => resolve(count));
  return promise;
}

/** Called with each frame. An error that it throws closes the socket. */
type OnFrame = (type: number, flags: number, stream: number, payload: Buffer) => void;

function readFrames(socket: Socket, onFrame: OnFrame): void {
  let rest = EMPTY;
  socket.on("data", (chunk: Buffer) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (bytes.length >= FRAME_HEADER) {
      const size = FRAME_HEADER + bytes.readUIntBE(0, 3);
      if (bytes.length < size) break;
      try {
        const payload = bytes.subarray(FRAME_HEADER, size);
        onFrame(bytes.readUInt8(3), bytes.readUInt8(4), bytes.readUInt32BE(5), payload);
      } catch (error) {
        socket.destroy(error as Error);
        return;
      }
      bytes = bytes.subarray(size);
    }
    rest = bytes;
  });
}

/**
 * Makes the header blocks of a connection's requests (RFC 7541). The first one adds the headers to
 * the dynamic table, and the others refer to it. The key is sent as it is.
 */
function createHeaderBlocks(path: string): (key: string) => Buffer {
  const headers = {
    ":method": "POST",
    ":scheme": "http",
    ":path": path,
    ":authority": "127.0.0.1",
    te: "trailers",
    "content-type": "application/grpc",
  };
  const literal = (kind: number, name: string, value: string) => [
    Buffer.from([kind, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ];
  const added = Object.entries(headers).flatMap(([name, value]) => literal(ADDED, name, value));
  // The dynamic table begins at 62, with the latest entry.
  const indexed = Object.keys(headers).map((_, index, { length }) => 0x80 + 61 + length - index);
  const later = [Buffer.from(indexed)];
  let block = added;
  return (key) => {
    const bytes = Buffer.concat([...block, ...literal(NOT_ADDED, "x-api-key", key)]);
    block = later;
    return bytes;
  };
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
