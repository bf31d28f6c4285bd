/**
 * Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. Files are sent as
 * they were compiled, with all their options: @grpc/reflection decodes and encodes them, which drops options such
 * as google.api.http (https://github.com/grpc/grpc-node/issues/2595). A symbol is a type, a service, a method or
 * an extension. Extensions are not found by number: the contract has none, and clients get those of its options
 * with its imports.
 *
 * @see https://github.com/grpc/grpc-proto/blob/master/grpc/reflection/v1/reflection.proto
 */
import {
  create,
  type DescFile,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { type Server, type ServerDuplexStream, status } from "@grpc/grpc-js";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { defineMethod } from "./method-definition.ts";

/** The second has the messages of the first. */
const VERSIONS = ["v1", "v1alpha"] as const;

/** Open streams: grpc-js decodes all questions of a stream at once, and keeps them. */
export const MAX_REFLECTIONS = 50;
const TOO_MANY = {
  code: status.RESOURCE_EXHAUSTED,
  details: "too many reflection streams are open",
};

type Answer = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

/** Adds reflection to a server, for the services in `files` and everything that these import. */
export function addReflection(server: Server, files: readonly DescFile[]): void {
  const answerTo = reflectFiles(files);
  let open = 0;
  const reflect = (call: ServerDuplexStream<ServerReflectionRequest, Buffer>) => {
    open++;
    call.once("close", () => open--);
    if (open > MAX_REFLECTIONS) return call.emit("error", TOO_MANY);
    call.on("data", (request: ServerReflectionRequest) => {
      const messageResponse = answerTo(request.messageRequest);
      const init = { validHost: request.host, originalRequest: request, messageResponse };
      const response = create(ServerReflectionResponseSchema, init);
      const bytes = Buffer.from(toBinary(ServerReflectionResponseSchema, response));
      // One answer at a time: nothing more is read while the client does not read.
      call.pause().write(bytes, () => call.resume());
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

function reflectFiles(files: readonly DescFile[]) {
  /** By the names of files and symbols. */
  const answers = new Map<string, Answer>();
  for (const file of new Set(files.flatMap(withImports))) {
    const bytes = withImports(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
    const answer = {
      case: "fileDescriptorResponse",
      value: { fileDescriptorProto: bytes },
    } as const;
    const types = [...nestedTypes(file)].map(({ typeName }) => typeName);
    const methods = file.services.flatMap(({ typeName, methods }) =>
      methods.map(({ name }) => `${typeName}.${name}`),
    );
    for (const name of [file.proto.name, ...types, ...methods]) answers.set(name, answer);
  }
  const service = files.flatMap((file) => file.services.map(({ typeName: name }) => ({ name })));

  return ({ case: kind, value }: ServerReflectionRequest["messageRequest"]): Answer => {
    switch (kind) {
      case "listServices":
        return { case: "listServicesResponse", value: { service } };
      case "fileByFilename":
      case "fileContainingSymbol":
        return answers.get(value) ?? failed(status.NOT_FOUND, `not found: ${value}`);
      default:
        return failed(status.UNIMPLEMENTED, "only files, symbols and services can be asked for");
    }
  };
}

const failed = (errorCode: status, errorMessage: string): Answer => ({
  case: "errorResponse",
  value: { errorCode, errorMessage },
});

/** A file and everything that it imports, each once. */
const withImports = (file: DescFile): DescFile[] => [
  ...new Set([file, ...file.dependencies.flatMap(withImports)]),
];
