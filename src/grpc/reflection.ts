/**
 * Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. It needs no
 * key. So its streams have a number and a time, beyond which they end with RESOURCE_EXHAUSTED.
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
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import type { ReportEvent } from "../telemetry/event-log.ts";
import { reflectFiles } from "./reflected-files.ts";

/** Open streams of all connections. */
export const MAX_REFLECTIONS = 50;
/** How long a stream may be open, in ms. */
const REFLECTION_TIMEOUT = 60_000;

/** The second has the messages of the first. */
const VERSIONS = ["v1", "v1alpha"] as const;

type Stream = ServerDuplexStream<Buffer, ServerReflectionResponse>;

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
  const limit = createLimit(report);
  const reflect = (call: Stream) => {
    if (!limit(call)) return;
    call.on("data", (bytes: Buffer) => {
      const request = parse(bytes);
      if (request === undefined) {
        call.emit("error", MALFORMED);
        return;
      }
      const response = create(ServerReflectionResponseSchema, {
        validHost: request.host,
        originalRequest: request,
        messageResponse: answerTo(request.messageRequest),
      });
      // Nothing more is read while the client does not read.
      if (!call.write(response)) call.pause().once("drain", () => call.resume());
    });
    call.on("end", () => call.end());
  };
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

/** Limits the streams together. Returns whether a stream is within the limit; ends it otherwise. */
function createLimit(report: ReportEvent): (call: Stream) => boolean {
  let open = 0;
  return (call) => {
    const end = (details: string) => {
      report("reflectionLimit");
      call.emit("error", { code: status.RESOURCE_EXHAUSTED, details });
    };
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
      responseSerialize: (message: ServerReflectionResponse) =>
        Buffer.from(toBinary(output, message)),
      responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
    },
  };
}
