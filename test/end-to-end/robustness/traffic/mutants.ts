/** The families of mutants: randomly changed requests of each protocol. */

import type { Random } from "../../../../dev/random.ts";
import { attack, type Ending } from "./connections.ts";
import { BODIES, EXCHANGES, type Exchange, post } from "./exchanges.ts";
import { callMutant, grpcMutant } from "./grpc-mutants.ts";
import { MUTATIONS, mutate } from "./mutations.ts";

/** A request that is perhaps not valid. */
export interface Mutant {
  /** What it sends, for error messages. */
  readonly description: string;
  /** Sends it. Resolves to the part of the response that reports an internal error, if any. */
  send(port: (protocol: "http" | "grpc") => number): Promise<string | undefined>;
}

/** INTERNAL and UNKNOWN, which a client must not be able to cause, in the protocols of the HTTP port. */
const INTERNAL_ERROR = /HTTP\/1\.1 500|grpc-status: ?(?:2|13)\r|"code":"(?:internal|unknown)"/;
/** The same in gRPC. */
const GRPC_INTERNAL_ERROR = /^(?:2 |13 (?!Error deserializing request|Invalid grpc-timeout value))/;

/** Usually the client waits for the response. */
function endingOf(random: Random): Ending {
  const listen: Ending = { kind: "listen", first: 150, silence: 40 };
  return random.pick([listen, listen, listen, listen, brokenEnding(random)]);
}

/** The client breaks off at once, a moment later, by a half-close, or at the response. */
function brokenEnding(random: Random): Ending {
  const reset: Ending = { kind: "reset", after: random.pick([0, 1, 2, 3, 5, 8, 30]) };
  return random.pick([reset, reset, { kind: "end" }, { kind: "reset at the response" }]);
}

function bytesMutant(protocol: "http" | "grpc", bytes: Buffer, ending: Ending): Mutant {
  const text = protocol === "http" ? JSON.stringify(bytes.toString("latin1")) : "";
  return {
    description: `${JSON.stringify(ending)} ${text || bytes.toString("hex")}`,
    async send(port) {
      const response = await attack(port(protocol), bytes, ending);
      if (protocol === "grpc") return undefined;
      return INTERNAL_ERROR.exec(response.toString("latin1"))?.[0];
    },
  };
}

/** A valid connection, mutated. */
function connectionMutant(protocol: Exchange["protocol"], random: Random): Mutant {
  const inputs = EXCHANGES.filter((one) => one.protocol === protocol).map(({ bytes }) => bytes);
  const mutant = mutate(MUTATIONS[protocol], random.pick(inputs), random, random.pick(inputs));
  return bytesMutant(protocol, mutant, endingOf(random));
}

/** The families, by name: each makes a random mutant. */
export const FAMILIES: Readonly<Record<string, (random: Random) => Mutant>> = {
  "HTTP/1.1": (random) => connectionMutant("http", random),
  "HTTP/2": (random) => connectionMutant("grpc", random),
  "connections that break off"(random) {
    const { protocol, bytes } = random.pick(EXCHANGES);
    const sent = bytes.subarray(0, random.integer(0, bytes.length + 1));
    return bytesMutant(protocol, random.pick([bytes, sent, sent]), brokenEnding(random));
  },
  "Connect and gRPC-Web messages"(random) {
    const [type, body] = random.pick(BODIES);
    return bytesMutant("http", post(type, mutate(MUTATIONS.bytes, body, random)), endingOf(random));
  },
  "gRPC messages"(random) {
    const mutant = grpcMutant(random);
    return {
      description: JSON.stringify({ ...mutant, body: mutant.body.toString("hex") }),
      async send(port) {
        const status = await callMutant(port("grpc"), mutant);
        return status !== undefined && GRPC_INTERNAL_ERROR.test(status) ? status : undefined;
      },
    };
  },
};
