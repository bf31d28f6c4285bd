/**
 * Mutated requests of every protocol, by the thousand. The same SEED makes the same mutants. SOAK
 * multiplies their number; with it, the seed is another in each run unless it is given.
 */
import { afterAll, beforeAll, beforeEach, it } from "vitest";
import { inParallel } from "./traffic/connections.ts";
import { recordGrpc } from "./traffic/grpc-exchanges.ts";
import { FAMILIES, type Mutant } from "./traffic/mutants.ts";
import { seededRandom } from "./traffic/random.ts";
import { setTarget, type Target } from "./traffic/target.ts";

const SOAK = Number(process.env.SOAK ?? 1);
const SEED = Number(process.env.SEED ?? (SOAK === 1 ? 1 : Date.now() % 2 ** 32));
/** Mutants of each family. */
const COUNT = 600 * SOAK;
/** After so many mutants the service is looked at. */
const BATCH = 100;
const WIDTH = 25;

let target: Target;
let recorded: Buffer[];
beforeAll(async () => {
  target = await setTarget();
  recorded = [];
  for (const name of ["gRPC, two calls at once", "health Watch", "reflection"]) {
    recorded.push((await recordGrpc(target.port("grpc"), name)).bytes);
  }
});
afterAll(() => target?.dispose());
beforeEach(() => target.revive());

/** Sends a mutant; throws where its answer blames the service. */
async function send(mutant: Mutant): Promise<void> {
  const blame = await mutant.send((protocol) => target.port(protocol));
  if (blame !== undefined) throw new Error(`${blame}\n${mutant.shown}`);
}

/** What the first of the mutants does that does harm alone. */
async function harmAlone(mutants: readonly Mutant[]): Promise<string> {
  await target.restart();
  for (const mutant of mutants) {
    try {
      await send(mutant);
      await target.expectUnharmed(mutant.shown);
    } catch (error) {
      return `${error}`;
    }
  }
  return "no mutant does it alone";
}

it.each(FAMILIES)(
  `mutants of $name do no harm (SEED=${SEED})`,
  { timeout: 60_000 * Math.max(1, SOAK) },
  async ({ mutant }) => {
    for (let first = 0; first < COUNT; first += BATCH) {
      const mutants = Array.from({ length: BATCH }, (_, index) =>
        mutant(seededRandom(SEED * 1_000_003 + first + index), recorded),
      );
      try {
        await inParallel(mutants, WIDTH, send);
        await target.expectUnharmed(`mutants ${first} to ${first + BATCH - 1}, SEED=${SEED}`);
      } catch (cause) {
        const alone = await harmAlone(mutants);
        throw new Error(`SEED=${SEED}, mutants from ${first}, one alone: ${alone}`, { cause });
      }
    }
  },
);
