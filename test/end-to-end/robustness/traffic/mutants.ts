/** The families of mutants: randomly changed requests of each protocol. */
import { attack, type Ending } from "./connections.ts";
import { EXCHANGES, GRPC_EXCHANGES, HTTP_EXCHANGES, REQUESTS, request } from "./exchanges.ts";
import { callMutant, grpcMutant } from "./grpc-mutants.ts";
import { FRAME_MUTATIONS } from "./http2-frames.ts";
import { BYTE_MUTATIONS, HTTP1_MUTATIONS, type Mutation, mutate } from "./mutations.ts";
import type { Random } from "./random.ts";
import { KEY } from "./target.ts";

/** A request that is perhaps not valid. */
export interface Mutant {
  /** What it sends, for error messages. */
  readonly description: string;
  /** Sends it. Resolves to the part of the response that reports an internal error, if any. */
  send(port: (protocol: "http" | "grpc") => number): Promise<string | undefined>;
}

/** Mutants of one kind of request. */
export interface Family {
  readonly name: string;
  /** Creates a random mutant. */
  mutant(random: Random): Mutant;
}

/** INTERNAL and UNKNOWN, which a client must not be able to cause, in the protocols of the HTTP port. */
const INTERNAL_ERROR = /HTTP\/1\.1 500|grpc-status: ?(?:2|13)\r|"code":"(?:internal|unknown)"/;
/** The same in gRPC. */
const GRPC_INTERNAL_ERROR = /^(?:2 |13 (?!Error deserializing request|Invalid grpc-timeout value))/;

const TEXT_MUTATIONS = [...HTTP1_MUTATIONS, ...BYTE_MUTATIONS] as const;
const BINARY_MUTATIONS = [...FRAME_MUTATIONS, ...BYTE_MUTATIONS] as const;

/** A random input, mutated; splices take the rest from another one. */
function mutantOf(
  mutations: readonly Mutation[],
  inputs: readonly Buffer[],
  random: Random,
): Buffer {
  return mutate(mutations, random.pick(inputs), random, random.pick(inputs));
}

/** Usually the client waits for the response. */
function endingOf(random: Random): Ending {
  const listen: Ending = { kind: "listen", first: 150, silence: 40 };
  const reset: Ending = { kind: "reset", after: random.below(6) };
  return random.pick([listen, listen, listen, listen, reset, { kind: "end" }]);
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

const PATH = "/revenue.v1.RevenueService/GetServerBreakdown";

function bodyOf(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
}

/** A valid POST with any body. */
function post(type: string, body: Buffer): Buffer {
  return request(`POST ${PATH}`, [`Content-Type: ${type}`, `X-API-Key: ${KEY}`], body);
}

const HTTP = [
  ...HTTP_EXCHANGES.map(({ bytes }) => bytes),
  REQUESTS.connectProto,
  REQUESTS.malformed,
];
const GRPC = GRPC_EXCHANGES.map(({ bytes }) => bytes);
const BODIES = [
  { type: "application/json", body: bodyOf(REQUESTS.connectJson) },
  { type: "application/proto", body: bodyOf(REQUESTS.connectProto) },
  { type: "application/grpc-web+proto", body: bodyOf(REQUESTS.grpcWeb) },
] as const;

/** All families. */
export const FAMILIES: readonly Family[] = [
  {
    name: "HTTP/1.1",
    mutant: (random) =>
      bytesMutant("http", mutantOf(TEXT_MUTATIONS, HTTP, random), endingOf(random)),
  },
  {
    name: "connections that break off",
    mutant(random) {
      const { protocol, bytes } = random.pick(EXCHANGES);
      const sent = bytes.subarray(0, random.below(bytes.length + 1));
      return bytesMutant(protocol, random.pick([bytes, sent, sent]), brokenEnding(random));
    },
  },
  {
    name: "Connect and gRPC-Web messages",
    mutant(random) {
      const { type, body } = random.pick(BODIES);
      return bytesMutant(
        "http",
        post(type, mutate(BYTE_MUTATIONS, body, random)),
        endingOf(random),
      );
    },
  },
  {
    name: "HTTP/2",
    mutant: (random) =>
      bytesMutant("grpc", mutantOf(BINARY_MUTATIONS, GRPC, random), endingOf(random)),
  },
  {
    name: "gRPC messages",
    mutant(random) {
      const mutant = grpcMutant(random);
      return {
        description: `${JSON.stringify({ ...mutant, body: mutant.body.toString("hex") })}`,
        async send(port) {
          const status = await callMutant(port("grpc"), mutant);
          return status !== undefined && GRPC_INTERNAL_ERROR.test(status) ? status : undefined;
        },
      };
    },
  },
];
