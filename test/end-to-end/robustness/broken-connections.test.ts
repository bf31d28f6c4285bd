/**
 * Connections that break in the middle of a valid exchange, in each protocol, pipelined or not: by a
 * reset, a half-close or a stall. One service process serves all of them. SOAK breaks after each byte.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { SOAK } from "../../support/soak.ts";
import { attack, type Ending, inParallel } from "./traffic/connections.ts";
import { EXCHANGES, type Exchange } from "./traffic/exchanges.ts";
import { createTarget, type Target } from "./traffic/target.ts";

/** Concurrent connections. */
const WIDTH = 50;
/** How many bytes further each next connection breaks. */
const STEP = SOAK === 1 ? 40 : 1;
/** How often a complete exchange is reset during its response. */
const TIMES = Math.min(100, 3 * SOAK);

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

/** The first bytes of an exchange: none, `STEP` more each, and all. */
function prefixesOf({ bytes }: Exchange): Buffer[] {
  const lengths = Array.from(
    { length: Math.ceil(bytes.length / STEP) },
    (_, index) => index * STEP,
  );
  return [...lengths, bytes.length].map((length) => bytes.subarray(0, length));
}

/** Sends each of the bytes on connections of their own, one for each ending. */
async function breakOff(
  { name, protocol }: Exchange,
  sent: readonly Buffer[],
  endings: readonly Ending[],
): Promise<void> {
  const breaks = sent.flatMap((bytes) => endings.map((ending) => ({ bytes, ending })));
  await inParallel(breaks, WIDTH, ({ bytes, ending }) =>
    attack(target.port(protocol), bytes, ending),
  );
  await target.expectUnharmed(name);
}

it.each(EXCHANGES)("$name is answered if it is complete", async ({ protocol, bytes, response }) => {
  const listen: Ending = { kind: "listen", first: 5_000, silence: 100 };
  let rest = (await attack(target.port(protocol), bytes, listen)).toString("latin1");
  for (const piece of response) {
    expect(rest).toContain(piece);
    rest = rest.slice(rest.indexOf(piece) + piece.length);
  }
});

it.each(EXCHANGES)("the service survives $name that breaks off", async (exchange) => {
  await breakOff(exchange, prefixesOf(exchange), [
    { kind: "reset", after: 0 },
    { kind: "reset", after: 30 },
    { kind: "end" },
  ]);
});

it.each(EXCHANGES)("the service survives $name that is reset at its response", async (exchange) => {
  const moments = [1, 2, 3, 5, 8].map((after): Ending => ({ kind: "reset", after }));
  const complete = Array<Buffer>(TIMES).fill(exchange.bytes);
  await breakOff(exchange, complete, [{ kind: "reset at the response" }, ...moments]);
});
