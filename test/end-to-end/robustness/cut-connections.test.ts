/**
 * Connections that break after every byte of a valid exchange: by a reset, by half a close, by a
 * stall, in each protocol, pipelined or not. The service is one process for all of them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { attack, type Ending, inParallel } from "./traffic/connections.ts";
import { type Exchange, PIPELINED_EXCHANGES, SINGLE_EXCHANGES } from "./traffic/exchanges.ts";
import { GRPC_EXCHANGES, recordGrpc } from "./traffic/grpc-exchanges.ts";
import { setTarget, type Target } from "./traffic/target.ts";

/** Connections at a time. */
const WIDTH = 50;
/** How often a whole exchange is cut at a moment of its answer. */
const TIMES = 25;

let target: Target;
beforeAll(async () => {
  target = await setTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.revive());

const HTTP: readonly Exchange[] = [...SINGLE_EXCHANGES, ...PIPELINED_EXCHANGES];

const EXCHANGES: readonly { readonly name: string; find(): Promise<Exchange> }[] = [
  ...HTTP.map((exchange) => ({ name: exchange.name, find: async () => exchange })),
  ...GRPC_EXCHANGES.map((name) => ({ name, find: () => recordGrpc(target.port("grpc"), name) })),
];

/** Sends the first `length` bytes of an exchange and ends the connection, for each length. */
async function cut(
  { name, protocol, bytes }: Exchange,
  lengths: readonly number[],
  ...endings: readonly Ending[]
): Promise<void> {
  const cuts = lengths.flatMap((length) => endings.map((ending) => ({ length, ending })));
  await inParallel(cuts, WIDTH, ({ length, ending }) =>
    attack(target.port(protocol), bytes.subarray(0, length), ending),
  );
  await target.expectUnharmed(`${name}: ${JSON.stringify(endings)}`);
}

/** Every `step`th length up to the whole. */
function lengthsOf({ bytes }: Exchange, step = 1): number[] {
  return Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => i * step).concat(
    bytes.length,
  );
}

describe.each(EXCHANGES)("$name", ({ find }) => {
  it("is answered when it is sent whole", async () => {
    const { protocol, bytes, answer } = await find();
    const listen: Ending = { kind: "listen", patience: 5_000, silence: 100 };
    const received = await attack(target.port(protocol), bytes, listen);
    let rest = received.toString("latin1");
    for (const piece of answer) {
      expect(rest).toContain(piece);
      rest = rest.slice(rest.indexOf(piece) + piece.length);
    }
    await target.expectUnharmed("the whole exchange");
  });

  it("harms nobody when it is reset after any byte", async () => {
    const exchange = await find();
    await cut(exchange, lengthsOf(exchange), { kind: "reset", after: 0 });
  });

  it("harms nobody when it is half closed after any byte", async () => {
    const exchange = await find();
    await cut(exchange, lengthsOf(exchange), { kind: "end" });
  });

  it("harms nobody when it stalls after a byte and is reset later", async () => {
    const exchange = await find();
    await cut(exchange, lengthsOf(exchange, 11), { kind: "reset", after: 30 });
  });

  it("harms nobody when it is reset while the answer is made or sent", async () => {
    const exchange = await find();
    const whole = Array.from({ length: TIMES }, () => exchange.bytes.length);
    const moments = [1, 2, 3, 5, 8].map((after): Ending => ({ kind: "reset", after }));
    await cut(exchange, whole, { kind: "reset at the answer" }, ...moments);
  });
});
