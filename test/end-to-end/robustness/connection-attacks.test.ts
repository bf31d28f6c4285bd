/** Attacks that once ended the process, and similar ones. Each is repeated many times. */
import { afterAll, beforeAll, beforeEach, it } from "vitest";
import { attack, type Ending, inParallel } from "./traffic/connections.ts";
import { REQUESTS, request } from "./traffic/exchanges.ts";
import { createTarget, type Target } from "./traffic/target.ts";

const TIMES = 100;
const WIDTH = 20;

let target: Target;
beforeAll(async () => {
  target = await createTarget();
});
afterAll(() => target?.dispose());
beforeEach(() => target.restartIfHarmed());

const FAULTS: readonly { readonly name: string; readonly bytes: readonly Buffer[] }[] = [
  { name: "CONNECT", bytes: [REQUESTS.connectMethod] },
  {
    name: "CONNECT followed by more bytes",
    bytes: [REQUESTS.connectMethod, Buffer.alloc(100_000, "x")],
  },
  {
    name: "an unknown key followed by a Connect GET",
    bytes: [REQUESTS.unknownKey, REQUESTS.connectGet],
  },
  {
    name: "an unsupported expectation followed by a Connect GET",
    bytes: [REQUESTS.unmetExpectation, REQUESTS.connectGet],
  },
  {
    name: "an unsupported expectation, twice",
    bytes: [REQUESTS.unmetExpectation, REQUESTS.unmetExpectation],
  },
  {
    name: "a REST call followed by CONNECT",
    bytes: [REQUESTS.overview, REQUESTS.connectMethod],
  },
  {
    name: "an upgrade to another protocol",
    bytes: [request("GET /api/provider/revenue", ["Connection: upgrade", "Upgrade: h2c"])],
  },
  {
    name: "a malformed request followed by more bytes",
    bytes: [REQUESTS.malformed, Buffer.alloc(100_000, "x")],
  },
];

const ENDINGS: readonly (Ending & { readonly title: string })[] = [
  { title: "reset at once", kind: "reset", after: 0 },
  { title: "reset after 5 ms", kind: "reset", after: 5 },
  { title: "reset at the response", kind: "reset at the response" },
  { title: "half-closed", kind: "end" },
];

it.each(
  FAULTS.flatMap((fault) => ENDINGS.map((ending) => ({ ...fault, ending, title: ending.title }))),
)("the service survives $name, $title", async ({ name, bytes, ending }) => {
  await inParallel(Array(TIMES).keys(), WIDTH, () =>
    attack(target.port("http"), Buffer.concat(bytes), ending),
  );
  await target.expectUnharmed(name);
});
