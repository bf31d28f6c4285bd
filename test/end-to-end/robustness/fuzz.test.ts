/**
 * Thousands of randomly mutated requests of every protocol. SEED determines the mutants; by default
 * it is 1. SOAK multiplies their number and makes the default SEED random.
 */
import { afterAll, beforeAll, beforeEach, it } from "vitest";
import { SOAK } from "../../support/soak.ts";
import { inParallel } from "./traffic/connections.ts";
import { recordGrpc } from "./traffic/grpc-exchanges.ts";
import { FAMILIES, type Mutant } from "./traffic/mutants.ts";
import { seededRandom } from "./traffic/random.ts";
import { createTarget, type Target } from "./traffic/target.ts";

const SEED = Number(process.env.SEED ?? (SOAK === 1 ? 1 : Date.now() % 2 ** 32));
/** Mutants of each family. */
const COUNT = 600 * SOAK;
/** How many mutants are sent between two checks of the service. */
const BATCH = 100;
const WIDTH = 25;

let target: Target;
let recorded: Buffer[];
beforeAll(async () => {
  target = await createTarget();
  recorded = [];
  for (const name of ["gRPC, two calls at once", "health Watch", "reflection"]) {
    recorded.push((await recordGrpc(target.port("grpc"), name)).bytes);
  }
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

/** Sends a mutant. Throws if the response reports an internal error. */
async function send(mutant: Mutant): Promise<void> {
  const internalError = await mutant.send((protocol) => target.port(protocol));
  if (internalError !== undefined) throw new Error(`${internalError}\n${mutant.description}`);
}

/** The error of the first mutant that does harm when it is sent alone. */
async function findHarmfulMutant(mutants: readonly Mutant[]): Promise<string> {
  await target.restart();
  for (const mutant of mutants) {
    try {
      await send(mutant);
      await target.expectUnharmed(mutant.description);
    } catch (error) {
      return `${error}`;
    }
  }
  return "no single mutant does harm";
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
        const harmful = await findHarmfulMutant(mutants);
        throw new Error(`SEED=${SEED}, mutants from ${first}; sent alone: ${harmful}`, { cause });
      }
    }
  },
);
