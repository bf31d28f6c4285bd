/**
 * Connections that break after each byte of a valid exchange, in each protocol, pipelined or not: by
 * a reset, a half-close or a stall. One service process serves all of them.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SOAK } from "../../support/soak.ts";
import { attack, type Ending, inParallel } from "./traffic/connections.ts";
import { type Exchange, PIPELINED_EXCHANGES, SINGLE_EXCHANGES } from "./traffic/exchanges.ts";
import { GRPC_EXCHANGES, recordGrpc } from "./traffic/grpc-exchanges.ts";
import { createTarget, type Target } from "./traffic/target.ts";

/** Concurrent connections. */
const WIDTH = 50;
/** How often a complete exchange is reset during its response. */
const TIMES = Math.min(100, 12 * SOAK);

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

const HTTP: readonly Exchange[] = [...SINGLE_EXCHANGES, ...PIPELINED_EXCHANGES];

const EXCHANGES: readonly { readonly name: string; load(): Promise<Exchange> }[] = [
  ...HTTP.map((exchange) => ({ name: exchange.name, load: async () => exchange })),
  ...GRPC_EXCHANGES.map((name) => ({ name, load: () => recordGrpc(target.port("grpc"), name) })),
];

/** Sends the first `length` bytes of an exchange and ends the connection, for each length and ending. */
async function breakAfter(
  { name, protocol, bytes }: Exchange,
  lengths: readonly number[],
  ...endings: readonly Ending[]
): Promise<void> {
  const breaks = lengths.flatMap((length) => endings.map((ending) => ({ length, ending })));
  await inParallel(breaks, WIDTH, ({ length, ending }) =>
    attack(target.port(protocol), bytes.subarray(0, length), ending),
  );
  await target.expectUnharmed(`${name}: ${JSON.stringify(endings)}`);
}

/** Every `step`th length from 0, and the complete length. */
function lengthsOf({ bytes }: Exchange, step = 1): number[] {
  const count = Math.ceil(bytes.length / step);
  return Array.from({ length: count }, (_, index) => index * step).concat(bytes.length);
}

describe.each(EXCHANGES)("$name", ({ load }) => {
  it("is answered if it is complete", async () => {
    const { protocol, bytes, response } = await load();
    const listen: Ending = { kind: "listen", first: 5_000, silence: 100 };
    const received = await attack(target.port(protocol), bytes, listen);
    let rest = received.toString("latin1");
    for (const piece of response) {
      expect(rest).toContain(piece);
      rest = rest.slice(rest.indexOf(piece) + piece.length);
    }
    await target.expectUnharmed("the complete exchange");
  });

  it("does no harm if it is reset at any byte", async () => {
    const exchange = await load();
    await breakAfter(exchange, lengthsOf(exchange), { kind: "reset", after: 0 });
  });

  it("does no harm if it is half-closed at any byte", async () => {
    const exchange = await load();
    await breakAfter(exchange, lengthsOf(exchange), { kind: "end" });
  });

  it("does no harm if it stalls at a byte and is reset later", async () => {
    const exchange = await load();
    await breakAfter(exchange, lengthsOf(exchange, 11), { kind: "reset", after: 30 });
  });

  it("does no harm if it is reset during its response", async () => {
    const exchange = await load();
    const complete = Array.from({ length: TIMES }, () => exchange.bytes.length);
    const moments = [1, 2, 3, 5, 8].map((after): Ending => ({ kind: "reset", after }));
    await breakAfter(exchange, complete, { kind: "reset at the response" }, ...moments);
  });
});
