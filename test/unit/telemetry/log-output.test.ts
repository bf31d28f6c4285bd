/** The output of the log, on real pipes and devices. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as endOfTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLogOutput, MAX_QUEUED } from "../../../src/telemetry/log-output.ts";
import { until } from "../../support/poll.ts";

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

/** A folder until the end of the test. */
function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "log-output-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A file that is open until the end of the test. */
function open(path: string, flags: string | number): number {
  const file = openSync(path, flags);
  onTestFinished(() => closeSync(file));
  return file;
}

/** A named pipe. Both ends are non-blocking. */
function openPipe() {
  const path = join(createFolder(), "pipe");
  execFileSync("mkfifo", [path]);
  const reader = open(path, O_RDONLY | O_NONBLOCK);
  const writer = open(path, O_WRONLY | O_NONBLOCK);
  let text = "";
  return {
    writer,
    /** Reads what is in the pipe. Returns all lines so far, parsed. */
    read(): Record<string, unknown>[] {
      const buffer = Buffer.alloc(1_048_576);
      try {
        for (let size = 1; size > 0; ) {
          size = readSync(reader, buffer);
          text += buffer.toString("latin1", 0, size);
        }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
      const lines = text.split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(`${Buffer.from(line, "latin1")}`));
    },
  };
}

const PAD = "é".repeat(500);
/** A line of about 1,000 bytes, half as many characters. */
const line = (index: number) => `${JSON.stringify({ index, PAD })}\n`;
const longLine = (index: number) => `${JSON.stringify({ index, PAD: PAD.repeat(10) })}\n`;

describe("the output of the log", () => {
  it("loses no line of a turn that has more of them than the queue holds", () => {
    const path = join(createFolder(), "log");
    const file = open(path, "w");
    const output = createLogOutput(file, 100_000);
    for (let index = 0; index < 1_000; index++) output.write(line(index));
    output.flushSync();
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(1_001);
  });

  it("drops and counts lines if nobody reads, and goes on when somebody reads again", async () => {
    const pipe = openPipe();
    const output = createLogOutput(pipe.writer);
    const sent = 1_000;
    for (let index = 0; index < sent; index++) {
      output.write(longLine(index));
      if (index % 100 === 0) await endOfTurn();
    }
    const dropped = output.dropped;
    await until(() => pipe.read().length === sent - dropped);

    // What was kept is whole and in order.
    const kept = [...pipe.read()];
    expect(kept.map(({ index }) => index)).toEqual(kept.map((_, index) => index));
    const characters = kept.length * longLine(0).length;
    expect(characters).toBeGreaterThan(MAX_QUEUED / 2);
    expect(characters).toBeLessThan(MAX_QUEUED + 65_536 + 10_000);

    output.write(line(0));
    await until(() => pipe.read().length === kept.length + 1);
    expect(output.dropped).toBe(dropped);
  });

  it("does not throw if the disk is full, and drops what it cannot keep", () => {
    // It stays open: the output goes on trying, and must not write to the next file of this number.
    const full = openSync("/dev/full", "w");
    const output = createLogOutput(full);
    for (let index = 0; index < 1_000; index++) output.write(longLine(index));
    output.flushSync(10_000); // does not wait
    expect(output.dropped).toBeGreaterThan(0);
  });

  it("waits for a slow reader as long as flushSync says, and loses nothing", async () => {
    const pipe = openPipe();
    const output = createLogOutput(pipe.writer);
    for (let index = 0; index < 200; index++) output.write(line(index));
    output.flushSync();
    const start = performance.now();
    output.flushSync(100);
    expect(performance.now() - start).toBeGreaterThanOrEqual(100);
    await until(() => pipe.read().length === 200);
  });
});
