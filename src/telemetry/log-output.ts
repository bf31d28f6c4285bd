/**
 * Where log lines go. Lines are gathered for a moment and written at once: a write to a pipe costs
 * as much as answering a small call. If they cannot be written, because nobody reads them or the
 * disk is full, they wait in a bounded queue, and further lines are dropped and counted (a metric). A
 * write never blocks on the reader and never throws. pino's own destination (sonic-boom 4.2) is no
 * substitute: its `flushSync` never returns once the reader is gone, so the process would not exit.
 */
import { writeSync } from "node:fs";

/** The longest queue, in characters. */
export const MAX_QUEUED = 1_048_576;
/** How long a line waits for others, in ms. */
const GATHER = 20;
/** The length of the lines, in characters, from which they do not wait. */
const MAX_WRITE = 65_536;
/** The time until the next attempt to write, in ms. It doubles until one succeeds. */
const MIN_RETRY = 1;
const MAX_RETRY = 128;

/** A destination of pino. */
export interface LogOutput {
  /** How many lines were dropped since the start. */
  readonly dropped: number;
  /** Takes a line, with its line feed. */
  write(line: string): void;
  /**
   * Writes the lines that wait. pino calls it after a line of level `fatal`.
   *
   * @param maxWait how long to block if the reader is slow, in ms; not at all by default
   */
  flushSync(maxWait?: number): void;
}

/**
 * Creates the output of a file descriptor. A pipe or a socket must be non-blocking.
 *
 * @param maxQueued the longest queue, in characters
 */
export function createLogOutput(fd: number, maxQueued = MAX_QUEUED): LogOutput {
  let lines: string[] = [];
  let characters = 0;
  /** What is being written. It may begin inside a line. */
  let chunk = Buffer.alloc(0);
  let dropped = 0;
  let isScheduled = false;
  /** Why the last attempt to write failed; undefined if it did not. */
  let failure: string | undefined;
  let retry = MIN_RETRY;

  /** Makes a chunk of the lines that wait. Returns false if there is nothing to write. */
  function fillChunk(): boolean {
    if (lines.length === 0) return false;
    chunk = Buffer.from(lines.join(""));
    lines = [];
    characters = 0;
    return true;
  }

  /** Writes until nothing waits or the write fails. */
  function writeOut(): void {
    failure = undefined;
    try {
      while (chunk.length > 0 || fillChunk()) {
        // Less than all of it is written if a pipe or a disk becomes full.
        chunk = chunk.subarray(writeSync(fd, chunk));
        retry = MIN_RETRY;
      }
    } catch (error) {
      failure = (error as NodeJS.ErrnoException).code ?? "unknown";
    }
  }

  /** Writes after a time in ms, unless a write is scheduled already. */
  function schedule(delay: number): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(runScheduled, delay).unref();
  }

  function runScheduled(): void {
    isScheduled = false;
    writeOut();
    if (failure === undefined) return;
    schedule(retry);
    retry = Math.min(2 * retry, MAX_RETRY);
  }

  return {
    get dropped() {
      return dropped;
    },
    write(line) {
      if (characters + chunk.length + line.length > maxQueued) {
        dropped++;
      } else {
        lines.push(line);
        characters += line.length;
        if (characters >= MAX_WRITE && failure === undefined) writeOut();
      }
      schedule(GATHER);
    },
    flushSync(maxWait = 0) {
      const end = performance.now() + maxWait;
      for (;;) {
        writeOut();
        if (failure !== "EAGAIN" || performance.now() >= end) return;
        pause(MIN_RETRY);
      }
    },
  };
}

/** Blocks the process. Only for its end, when no event is handled any more. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
