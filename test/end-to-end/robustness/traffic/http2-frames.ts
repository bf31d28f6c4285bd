/** Mutations of HTTP/2 frames (RFC 9113, section 4.1) after the client preface. */
import { FRAME_HEADER, frame, PREFACE } from "../../../../dev/http2-frame.ts";
import type { Mutation } from "./mutations.ts";
import type { Random } from "./random.ts";

/** DATA to CONTINUATION, and two unknown types. */
const TYPES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255] as const;
/** END_STREAM or ACK, END_HEADERS, PADDED, PRIORITY. */
const FLAGS = [0, 1, 4, 5, 8, 0x20, 0x2d, 0xff] as const;
const STREAMS = [0, 1, 2, 3, 5, 7, 101, 0x7fffffff, 0xffffffff] as const;

/** The frames of a connection. The last one may be incomplete. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  let rest = bytes.subarray(PREFACE.length);
  while (rest.length >= FRAME_HEADER) {
    const end = FRAME_HEADER + rest.readUIntBE(0, 3);
    frames.push(rest.subarray(0, end));
    rest = rest.subarray(end);
  }
  return rest.length > 0 ? [...frames, rest] : frames;
}

function onFrames(change: (frames: Buffer[], random: Random) => unknown): Mutation {
  return (bytes, random) => {
    const frames = framesOf(bytes);
    change(frames, random);
    return Buffer.concat([bytes.subarray(0, PREFACE.length), ...frames]);
  };
}

const dropFrame = onFrames((frames, random) => frames.splice(random.below(frames.length), 1));

const repeatFrame = onFrames((frames, random) => {
  const at = random.below(frames.length);
  const again = frames
    .slice(at, at + 1)
    .flatMap((one) => Array<Buffer>(random.below(20)).fill(one));
  frames.splice(at, 0, ...again);
});

const moveFrame = onFrames((frames, random) => {
  const moved = frames.splice(random.below(frames.length), 1);
  frames.splice(random.below(frames.length + 1), 0, ...moved);
});

const randomFrame = onFrames((frames, random) => {
  const payload = random.bytes(random.pick([0, 1, 4, 5, 6, 8, 12, 40]));
  const inserted = frame(random.pick(TYPES), random.pick(FLAGS), random.pick(STREAMS), payload);
  frames.splice(random.below(frames.length + 1), 0, inserted);
});

/** Mutations of HTTP/2 connections. */
export const FRAME_MUTATIONS = [
  dropFrame,
  repeatFrame,
  moveFrame,
  randomFrame,
] as const satisfies readonly Mutation[];
