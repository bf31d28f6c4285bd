/** The families of mutants: what each protocol's requests become. */
import { attack, type Ending } from "./connections.ts";
import { PIPELINED_EXCHANGES, REQUESTS, request, SINGLE_EXCHANGES } from "./exchanges.ts";
import { callMutant, grpcMutant } from "./grpc-mutants.ts";
import { FRAME_MUTATIONS } from "./http2-frames.ts";
import { BYTE_MUTATIONS, HTTP1_MUTATIONS, type Mutation, mutate } from "./mutations.ts";
import type { Random } from "./random.ts";
import { KEY } from "./target.ts";

export interface Mutant {
  /** What it sends, for people. */
  readonly shown: string;
  /** Sends it to one of the ports. Resolves to the part of the answer that blames the service. */
  send(port: (protocol: "http" | "grpc") => number): Promise<string | undefined>;
}

export interface Family {
  readonly name: string;
  /** @param recorded connections of gRPC clients, as bytes */
  mutant(random: Random, recorded: readonly Buffer[]): Mutant;
}

/** INTERNAL and UNKNOWN, and REST's and Connect's status of both. */
const BLAME = /HTTP\/1\.1 500|grpc-status: ?(?:2|13)\r|"code":"(?:internal|unknown)"/;
/** The same of a status. A malformed timeout is INTERNAL in grpc-js, before any code of ours. */
const GRPC_BLAME = /^(?:2|13) (?!Invalid grpc-timeout)/;

const TEXT_MUTATIONS = [...HTTP1_MUTATIONS, ...BYTE_MUTATIONS] as const;
const BINARY_MUTATIONS = [...FRAME_MUTATIONS, ...BYTE_MUTATIONS] as const;

/** One of the bytes, mutated, with another for splices. */
function mutantOf(
  mutations: readonly Mutation[],
  inputs: readonly Buffer[],
  random: Random,
): Buffer {
  return mutate(mutations, random.pick(inputs), random, random.pick(inputs));
}

/** Mostly the answer is waited for. */
function endingOf(random: Random): Ending {
  const listen: Ending = { kind: "listen", patience: 150, silence: 40 };
  const reset: Ending = { kind: "reset", after: random.below(6) };
  return random.pick([listen, listen, listen, listen, reset, { kind: "end" }]);
}

function bytesMutant(protocol: "http" | "grpc", bytes: Buffer, random: Random): Mutant {
  const ending = endingOf(random);
  const shown = protocol === "http" ? JSON.stringify(bytes.toString("latin1")) : "";
  return {
    shown: `${JSON.stringify(ending)} ${shown || bytes.toString("hex")}`,
    async send(port) {
      const answer = await attack(port(protocol), bytes, ending);
      if (protocol === "grpc") return undefined;
      return BLAME.exec(answer.toString("latin1"))?.[0];
    },
  };
}

const PATH = "/revenue.v1.RevenueService/GetServerBreakdown";

function bodyOf(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf("\r\n\r\n") + 4);
}

/** A POST whose framing is right, whatever its body is. */
function post(type: string, body: Buffer): Buffer {
  return request(`POST ${PATH}`, [`Content-Type: ${type}`, `X-API-Key: ${KEY}`], body);
}

const REST = [
  ...[...SINGLE_EXCHANGES, ...PIPELINED_EXCHANGES].map(({ bytes }) => bytes),
  REQUESTS.malformed,
];
const CONNECT = [REQUESTS.connectJson, REQUESTS.connectProto, REQUESTS.connectGet];
const BODIES = [
  { type: "application/json", body: bodyOf(REQUESTS.connectJson) },
  { type: "application/proto", body: bodyOf(REQUESTS.connectProto) },
  { type: "application/grpc-web+proto", body: bodyOf(REQUESTS.grpcWeb) },
] as const;

export const FAMILIES: readonly Family[] = [
  {
    name: "HTTP/1.1",
    mutant: (random) => bytesMutant("http", mutantOf(TEXT_MUTATIONS, REST, random), random),
  },
  {
    name: "Connect and gRPC-Web requests",
    mutant(random) {
      const inputs = [...CONNECT, REQUESTS.grpcWeb, REQUESTS.chunked];
      return bytesMutant("http", mutantOf(TEXT_MUTATIONS, inputs, random), random);
    },
  },
  {
    name: "Connect and gRPC-Web messages",
    mutant(random) {
      const { type, body } = random.pick(BODIES);
      return bytesMutant("http", post(type, mutate(BYTE_MUTATIONS, body, random)), random);
    },
  },
  {
    name: "HTTP/2",
    mutant: (random, recorded) =>
      bytesMutant("grpc", mutantOf(BINARY_MUTATIONS, recorded, random), random),
  },
  {
    name: "gRPC messages",
    mutant(random) {
      const mutant = grpcMutant(random);
      return {
        shown: `${JSON.stringify({ ...mutant, body: mutant.body.toString("hex") })}`,
        async send(port) {
          const status = await callMutant(port("grpc"), mutant);
          return status !== undefined && GRPC_BLAME.test(status) ? status : undefined;
        },
      };
    },
  },
];
