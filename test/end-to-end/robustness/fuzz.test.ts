/**
 * Randomly mutated requests of every protocol, and connections that break off in the middle of a valid
 * exchange. SOAK multiplies their number.
 */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandom } from "../../../dev/random.ts";
import { TIME_LIMIT } from "../../../dev/time-limit.ts";
import { draw, SEED, SEEDED } from "../../support/seed.ts";
import { SOAK } from "../../support/soak.ts";
import { EXCHANGES } from "./exchanges.ts";
import { attack, FAMILIES, type Mutant } from "./mutants.ts";
import { createTarget, KEY, type Target } from "./target.ts";

/** How many mutants are sent at once. The service is checked after them. */
const BATCH = 100;

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());

/** Sends a mutant. Throws if the response reports an internal error. */
async function send(mutant: Mutant): Promise<void> {
  const internalError = await mutant.send((protocol) => target.port(protocol));
  if (internalError !== undefined) throw new Error(`${internalError}\n${mutant.description}`);
}

it.each(Object.entries(FAMILIES))(`mutants of %s do no harm ${SEEDED}`, async (_, mutants) => {
  const random = createRandom(SEED);
  for (let batch = 1; batch <= SOAK; batch++) {
    await Promise.all(draw(random, mutants, BATCH).map(send));
    await target.expectUnharmed(`batch ${batch}, SEED=${SEED}`);
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
async function ask(protocol: "http" | "grpc", bytes: Uint8Array, ...pieces: readonly string[]) {
  const isEnough = (response: string) => hasInOrder(response, pieces);
  const response = await attack(target.port(protocol), bytes, { patience: TIME_LIMIT, isEnough });
  return response.toString("latin1");
}

it("what mutants are made of is answered", async () => {
  for (const { name, protocol, parts, response: pieces } of EXCHANGES) {
    const response = await ask(protocol, Buffer.concat(parts), ...pieces);
    if (!hasInOrder(response, pieces)) expect(response, name).toBe(pieces.join("…"));
  }
});

const GET = "GET /revenue.v1.RevenueService/GetOverview?connect=v1&encoding=json&message=%7B%7D";

// Found by the test above: they were answered with an internal error.
it.each([
  ["a method of RTSP without an HTTP version", "DESCRIBE /api/provider/revenue"],
  ["HTTP/2's PRI without an HTTP version", "PRI /api/provider/revenue"],
  ["a Connect GET with HTTP/1.0 and without a host", `${GET} HTTP/1.0`],
  ["a Connect GET without an HTTP version", GET],
])("%s is a client error", async (_, line) => {
  const request = [line, `X-API-Key: ${KEY}`, "Connection: close", "", ""].join("\r\n");
  expect(await ask("http", Buffer.from(request), "HTTP/1.1 4")).toMatch(/^HTTP\/1\.1 4/);
});
