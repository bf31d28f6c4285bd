/**
 * Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. It needs no
 * key. So its streams have a number and a time, and its questions a rate, beyond which they end with
 * RESOURCE_EXHAUSTED.
 */
import { create, type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Server,
  type ServerDuplexStream,
  type ServiceDefinition,
  status,
} from "@grpc/grpc-js";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { createTokenBuckets } from "../rpc/token-buckets.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { reflectFiles } from "./reflected-files.ts";

/** Open streams of all connections. */
export const MAX_REFLECTIONS = 50;
/** How long a stream may be open, in ms. */
const REFLECTION_TIMEOUT = 60_000;
/** Questions of one connection, also in a stream: a tool asks a few for each service. */
export const QUESTIONS = { rate: 20, burst: 200 };

/** The second has the messages of the first. */
const VERSIONS = ["v1", "v1alpha"] as const;

type Stream = ServerDuplexStream<Buffer, Buffer>;

/**
 * Adds reflection to a server, for the services in `files` and everything that these import.
 *
 * @param report counts streams that are ended: `reflectionLimit`
 */
export function addReflection(
  server: Server,
  files: readonly DescFile[],
  report: ReportEvent,
): void {
  const answerTo = reflectFiles(files);
  const isWithinLimit = createLimit(report);
  const takeQuestion = createTokenBuckets(QUESTIONS);
  const reflect = (call: Stream) => {
    if (!isWithinLimit(call)) return;
    const peer = call.getPeer();
    const answer = (bytes: Buffer) => {
      const request = parse(bytes);
      if (request === undefined) end(MALFORMED);
      else if (!takeQuestion(peer).allowed) end(refusal("too many questions", report));
      // Nothing more is read while the client does not read.
      else if (!call.write(responseTo(request))) call.pause().once("drain", () => call.resume());
    };
    const end = (failure: object) => {
      call.off("data", answer).emit("error", failure);
    };
    call.on("data", answer).on("end", () => call.end());
  };
  /** A message is the same as its parts, one after the other. */
  function responseTo(request: ServerReflectionRequest): Buffer {
    const asked = { validHost: request.host, originalRequest: request };
    const head = create(ServerReflectionResponseSchema, asked);
    const bytes = toBinary(ServerReflectionResponseSchema, head);
    return Buffer.concat([bytes, answerTo(request.messageRequest)]);
  }
  for (const version of VERSIONS) {
    server.addService(define(version), {
      [ServerReflection.method.serverReflectionInfo.name]: reflect,
    });
  }
}

const MALFORMED = {
  code: status.INVALID_ARGUMENT,
  details: `the request is not a valid ${ServerReflectionRequestSchema.typeName}`,
};

function parse(bytes: Buffer): ServerReflectionRequest | undefined {
  try {
    return fromBinary(ServerReflectionRequestSchema, bytes);
  } catch {
    return undefined;
  }
}

/** The status of what is beyond a limit. */
function refusal(details: string, report: ReportEvent) {
  report("reflectionLimit");
  return { code: status.RESOURCE_EXHAUSTED, details };
}

/** Limits the streams together. Returns whether a stream is within the limit; ends it otherwise. */
function createLimit(report: ReportEvent): (call: Stream) => boolean {
  let open = 0;
  return (call) => {
    const end = (details: string) => void call.emit("error", refusal(details, report));
    if (open >= MAX_REFLECTIONS) {
      end("too many reflection streams are open");
      return false;
    }
    open++;
    const timer = setTimeout(
      () => end("the stream has been open for too long"),
      REFLECTION_TIMEOUT,
    );
    // grpc-js emits it at the end of each call.
    call.once("cancelled", () => {
      open--;
      clearTimeout(timer);
    });
    return true;
  };
}

/** The handler decodes requests: grpc-js would answer INTERNAL to one that is malformed. */
function define(version: (typeof VERSIONS)[number]): ServiceDefinition {
  const { name, output } = ServerReflection.method.serverReflectionInfo;
  return {
    [name]: {
      path: `/grpc.reflection.${version}.${ServerReflection.name}/${name}`,
      requestStream: true,
      responseStream: true,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => bytes,
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
    },
  };
}
