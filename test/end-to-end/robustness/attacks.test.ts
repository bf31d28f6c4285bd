/**
 * Attacks, after each of which the process runs, has logged no error and answers: randomly mutated requests of every
 * protocol, connections that break off in the middle of a valid exchange (SOAK multiplies their number), and floods of
 * the gRPC port from many connections. The limits themselves are tested in test/unit/grpc.
 */
import { hash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import {
  field,
  frame,
  grpcMessage,
  headers,
  NO_FLOW_CONTROL,
  PREFACE,
  reset,
  SETTINGS_ACK,
} from "../../support/clients/http2-frames.ts";
import { until } from "../../support/poll.ts";
import { SEAT_BELT } from "../../support/seat-belt.ts";
import { draw, SEED, SEEDED } from "../../support/seed.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { grpcLoadClient, restLoadClient } from "../../support/service/load.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { SOAK } from "../../support/soak.ts";
import { call, EXCHANGES, KEY, OVERVIEW, type Protocol, textFields } from "./exchanges.ts";
import { attack, FAMILIES } from "./mutants.ts";

/** How many mutants are sent at once. The service is checked after them. */
const BATCH = 100;
/** The heap of the service under a flood, in MiB, which would fill it if it were kept: then the process ends. */
const SMALL_HEAP = 96;
/** What the process may take under any flood, in bytes. */
const MAX_MEMORY = 450 * 2 ** 20;
/** What V8 takes by itself in the container of 1 GiB that `deploy/` runs. */
const HEAP = 512;

let fixture: Fixture;
let isEnded = false;

/** Starts the service for the tests of a `describe`. */
function startBefore(heap: number): void {
  beforeAll(async () => {
    fixture = await createFixture(
      async (database) => {
        await smallLedger(database);
        const key_hash = hash("sha256", KEY, "buffer");
        await database.knex("api_keys").insert({ provider_id: 1, name: "test", key_hash });
      },
      { NODE_OPTIONS: `${SEAT_BELT} --max-old-space-size=${heap}` },
    );
    isEnded = false;
    fixture.service.ended.then(() => (isEnded = true));
  });
  afterAll(() => fixture?.dispose());
}

const port = (protocol: Protocol) => {
  const { http, grpc } = fixture.service;
  return Number(new URL(protocol === "http" ? http : `http://${grpc}`).port);
};

/** The memory of the process, in bytes. After a flood it is about as much as in it. */
async function residentMemory(): Promise<number> {
  const text = await (await fetch(`${fixture.service.admin}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1]);
}

/** What one call of each kind on a connection of its own leads to: "200" and "OK". */
async function validCalls(): Promise<string> {
  const { http, grpc } = fixture.service;
  const clients = [restLoadClient(http, KEY), grpcLoadClient(grpc, KEY)];
  const results = await Promise.all(clients.map((client) => client.send()));
  for (const client of clients) client.close();
  const answers = results.map((one) =>
    one.kind === "answered" ? one.answer.slice(0, 3) : JSON.stringify(one),
  );
  return answers.join();
}

/** Checks the process after an attack, which is what the error names. */
async function expectUnharmed(attack: string): Promise<void> {
  // A service that has much to do may answer late: then it does not now, and is not harmed.
  await until(async () => isEnded || (await validCalls()) === "200,OK");
  const lines = fixture.service.output().split("\n");
  const errors = lines.filter((line) => !/^$|^\{"level":"(info|warn)"/.test(line));
  expect({ attack, isEnded, errors }).toEqual({ attack, isEnded: false, errors: [] });
}

describe("requests", () => {
  startBefore(HEAP);

  it.each(Object.entries(FAMILIES))(`mutants of %s do no harm ${SEEDED}`, async (_, mutants) => {
    const random = createRandom(SEED);
    for (let batch = 1; batch <= SOAK; batch++) {
      await Promise.all(
        draw(random, mutants, BATCH).map(async (mutant) => {
          const internalError = await mutant.send(port);
          if (internalError) throw new Error(`${internalError}\n${mutant.description}`);
        }),
      );
      await expectUnharmed(`batch ${batch}, SEED=${SEED}`);
    }
  });

  /** Whether a text has all pieces, one after the other. */
  function hasInOrder(text: string, pieces: readonly string[]): boolean {
    let from = 0;
    return pieces.every((piece) => {
      const at = text.indexOf(piece, from);
      from = at + piece.length;
      return at >= 0;
    });
  }

  /** Sends bytes, and reads until the response has the pieces. */
  async function ask(protocol: Protocol, bytes: Uint8Array, ...pieces: readonly string[]) {
    const isEnough = (response: string) => hasInOrder(response, pieces);
    const response = await attack(port(protocol), bytes, { patience: TIME_LIMIT, isEnough });
    return response.toString("latin1");
  }

  it("what mutants are made of is answered", async () => {
    for (const { name, protocol, parts, response: pieces } of EXCHANGES) {
      const response = await ask(protocol, Buffer.concat(parts), ...pieces);
      if (!hasInOrder(response, pieces)) expect(response, name).toBe(pieces.join("…"));
    }
  });

  const GET = "GET /revenue.v1.RevenueService/GetOverview?connect=v1&encoding=json&message=%7B%7D";

  // Found by mutants: they were answered with an internal error.
  it.each([
    ["a method of RTSP without an HTTP version", "DESCRIBE /api/provider/revenue"],
    ["a Connect GET with HTTP/1.0 and without a host", `${GET} HTTP/1.0`],
  ])("%s is a client error", async (_, line) => {
    const request = [line, `X-API-Key: ${KEY}`, "Connection: close", "", ""].join("\r\n");
    expect(await ask("http", Buffer.from(request), "HTTP/1.1 4")).toMatch(/^HTTP\/1\.1 4/);
  });
});

/** What a connection sends. */
interface Flood {
  /** The frames of a stream. */
  readonly frames: (id: number) => readonly Buffer[];
  /** How many streams at once, and how often. */
  readonly streams: readonly [perBurst: number, bursts: number];
  /** Whether it reads what the service sends. */
  readonly reads: boolean;
}

/** Sends the bursts over a new connection. Resolves to it, when all is sent or when it was closed. */
function flood({ frames, streams: [perBurst, bursts], reads }: Flood): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const socket = connect(port("grpc"), "127.0.0.1").on("error", () => {});
  onTestFinished(() => void socket.resetAndDestroy());
  if (reads) socket.resume();
  else socket.pause();
  socket.write(Buffer.concat([PREFACE, NO_FLOW_CONTROL, SETTINGS_ACK]));
  let id = 1;
  let left = bursts;
  const send = () => {
    if (left-- === 0 || socket.destroyed) return resolve(socket);
    const burst = Array.from({ length: perBurst }, (_, nth) => frames(id + 2 * nth)).flat();
    id += 2 * perBurst;
    if (socket.write(Buffer.concat(burst))) setImmediate(send);
    else socket.once("drain", send);
  };
  socket.once("connect", send).once("close", () => resolve(socket));
  return promise;
}

const EMPTY = Buffer.alloc(0);
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** 1 MiB in 1 KB. */
const BOMB = grpcMessage(gzipSync(Buffer.alloc(2 ** 20)), 1);
/** As many as a DATA frame holds. */
const MESSAGES = Buffer.concat(Array<Buffer>(3_276).fill(grpcMessage(EMPTY)));
/** An answer is all files. */
const QUESTIONS = Buffer.concat(
  Array<Buffer>(400).fill(grpcMessage(textFields({ 4: "revenue.v1.RevenueService" }))),
);
/**
 * A binary header of 1,900 values that is added to HPACK's table (RFC 7541, section 6.2.1), and then 14 times a
 * byte that stands for it.
 */
const LONG = Buffer.from("A,".repeat(1_900));
const ENTRY = [Buffer.from("4005612d62696e7f", "hex"), Buffer.from([0xd9, 0x1c]), LONG];
const VALUES = Buffer.alloc(14, 0x80 + 62);
const WATCH = "/grpc.health.v1.Health/Watch";
const PING = frame(6, 0, 0, Buffer.alloc(8));
/** Nearly as many as a connection may have at once. */
const OPEN = { streams: [45, 1], reads: true } as const;
const MANY = { streams: [125, 4], reads: true } as const;

describe("floods", () => {
  startBefore(SMALL_HEAP);

  it.each<[string, Flood]>([
    [
      "calls whose responses are not read",
      { ...OPEN, frames: (id) => call(id, OVERVIEW, EMPTY, KEY), reads: false },
    ],
    ["cancelled calls", { ...MANY, frames: (id) => [...call(id, OVERVIEW, EMPTY), reset(id)] }],
    ["health watches", { ...OPEN, frames: (id) => call(id, WATCH, EMPTY) }],
    ["PING that is not read", { ...MANY, frames: () => [PING], reads: false }],
    [
      "compressed bombs",
      {
        ...OPEN,
        frames: (id) => [
          headers(id, false, OVERVIEW, KEY, field("grpc-encoding", "gzip")),
          frame(0, 1, id, BOMB),
        ],
      },
    ],
    [
      "messages in a frame",
      { ...OPEN, frames: (id) => [headers(id, false, OVERVIEW, KEY), frame(0, 0, id, MESSAGES)] },
    ],
    [
      "binary headers by their numbers",
      {
        ...OPEN,
        frames: (id) => [
          headers(id, true, OVERVIEW, KEY, Buffer.concat([...(id === 1 ? ENTRY : []), VALUES])),
        ],
      },
    ],
    [
      "reflection that is not read",
      {
        ...OPEN,
        frames: (id) => [headers(id, false, REFLECTION), frame(0, 0, id, QUESTIONS)],
        reads: false,
      },
    ],
  ])("beside a flood of %s, another caller is answered", async (_, sent) => {
    // Of another provider: that of the flood has as many calls in flight as it may have.
    const other = grpcLoadClient(fixture.service.grpc, await fixture.issueKey("2"));
    onTestFinished(() => other.close());
    await other.send();
    const floods = Promise.all(Array.from({ length: 20 }, () => flood(sent)));
    const isAnswered = async () => {
      const result = await other.send();
      // The service stood still, and this call was one too many of those that had come meanwhile.
      const isLate = /UNAVAILABLE|DEADLINE_EXCEEDED/.test(JSON.stringify(result));
      if (!isLate) expect(result).toEqual({ kind: "answered", answer: "OK" });
      return !isLate || isEnded;
    };
    for (let count = 0; count < 5; count++) await until(isAnswered);
    // A connection that reads nothing may not be read from either.
    const sockets = sent.reads ? await floods : [];
    await expectUnharmed("the flood");
    expect(await residentMemory()).toBeLessThan(MAX_MEMORY);
    // What a connection may have open at once was not refused.
    if (sent.streams === OPEN.streams) {
      for (const { destroyed } of sockets) expect(destroyed).toBe(false);
    }
  });
});
