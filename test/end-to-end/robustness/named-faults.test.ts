/** Attacks on a connection that ended the process, or could have. Each is sent many times. */
import { afterAll, beforeAll, beforeEach, it } from "vitest";
import { attack, type Ending, inParallel } from "./traffic/connections.ts";
import { REQUESTS, request } from "./traffic/exchanges.ts";
import { setTarget, type Target } from "./traffic/target.ts";

const TIMES = 100;
const WIDTH = 20;

let target: Target;
beforeAll(async () => {
  target = await setTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.revive());

const FAULTS: readonly { readonly name: string; readonly bytes: readonly Buffer[] }[] = [
  { name: "CONNECT", bytes: [REQUESTS.connectMethod] },
  {
    name: "CONNECT with more bytes behind it",
    bytes: [REQUESTS.connectMethod, Buffer.alloc(100_000, "x")],
  },
  {
    name: "an unknown key with a Connect GET behind it",
    bytes: [REQUESTS.unknownKey, REQUESTS.connectGet],
  },
  {
    name: "an expectation that cannot be met, with a Connect GET behind it",
    bytes: [REQUESTS.unmetExpectation, REQUESTS.connectGet],
  },
  {
    name: "an expectation that cannot be met, twice",
    bytes: [REQUESTS.unmetExpectation, REQUESTS.unmetExpectation],
  },
  {
    name: "a REST call with CONNECT behind it",
    bytes: [REQUESTS.overview, REQUESTS.connectMethod],
  },
  {
    name: "an upgrade to another protocol",
    bytes: [request("GET /api/provider/revenue", ["Connection: upgrade", "Upgrade: h2c"])],
  },
  {
    name: "a refused request with more bytes behind it",
    bytes: [REQUESTS.malformed, Buffer.alloc(100_000, "x")],
  },
];

const ENDINGS: readonly (Ending & { readonly title: string })[] = [
  { title: "reset at once", kind: "reset", after: 0 },
  { title: "reset a little later", kind: "reset", after: 5 },
  { title: "reset at the answer", kind: "reset at the answer" },
  { title: "half closed", kind: "end" },
];

it.each(
  FAULTS.flatMap((fault) => ENDINGS.map((ending) => ({ ...fault, ending, title: ending.title }))),
)("the process lives after $name, $title", async ({ name, bytes, ending }) => {
  await inParallel(Array(TIMES).keys(), WIDTH, () =>
    attack(target.port("http"), Buffer.concat(bytes), ending),
  );
  await target.expectUnharmed(name);
});
