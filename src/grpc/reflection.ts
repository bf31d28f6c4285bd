/**
 * Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. Files are sent as
 * they were compiled, with all their options: @grpc/reflection decodes and encodes them, which drops options such
 * as google.api.http, and finds no extension (https://github.com/grpc/grpc-node/issues/2595).
 *
 * @see https://github.com/grpc/grpc-proto/blob/master/grpc/reflection/v1/reflection.proto
 */
import { create, type DescFile, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type Server, type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { defineMethod } from "./method-definition.ts";
import { reflectFiles } from "./reflected-files.ts";

/** The second has the messages of the first. */
const VERSIONS = ["v1", "v1alpha"] as const;

/** Open streams: what one sends while its client does not read is kept. */
export const MAX_REFLECTIONS = 50;
const TOO_MANY = {
  code: status.RESOURCE_EXHAUSTED,
  details: "too many reflection streams are open",
};

/** Adds reflection to a server, for the services in `files` and everything that these import. */
export function addReflection(server: Server, files: readonly DescFile[]): void {
  const answerTo = reflectFiles(files);
  let open = 0;
  const reflect = (call: ServerDuplexStream<ServerReflectionRequest, Buffer>) => {
    open++;
    call.once("close", () => open--);
    if (open > MAX_REFLECTIONS) return call.emit("error", TOO_MANY);
    call.on("data", (request: ServerReflectionRequest) => {
      const asked = { validHost: request.host, originalRequest: request };
      const head = create(ServerReflectionResponseSchema, asked);
      // A message is the same as its parts, one after the other.
      const parts = [
        toBinary(ServerReflectionResponseSchema, head),
        answerTo(request.messageRequest),
      ];
      // Nothing more is read while the client does not read.
      if (!call.write(Buffer.concat(parts))) call.pause().once("drain", () => call.resume());
    });
    return call.on("end", () => call.end());
  };
  const method = ServerReflection.method.serverReflectionInfo;
  const decode = (bytes: Buffer) => fromBinary(ServerReflectionRequestSchema, bytes);
  for (const version of VERSIONS) {
    const service = `grpc.reflection.${version}.${ServerReflection.name}`;
    server.addService({ reflect: defineMethod(method, decode, service) }, { reflect });
  }
}
