/**
 * What server reflection tells of proto files. Files are sent as they were compiled, with all their options;
 * @grpc/reflection decodes and encodes them, which drops options such as google.api.http, and finds no
 * extension (https://github.com/grpc/grpc-node/issues/2595).
 *
 * @see https://github.com/grpc/grpc-proto/blob/master/grpc/reflection/v1/reflection.proto
 */
import {
  type AnyDesc,
  create,
  type DescFile,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import {
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";

type Question = ServerReflectionRequest["messageRequest"];
type Answer = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

/**
 * Creates the function that answers questions about files and everything that these import, with a
 * ServerReflectionResponse that has only the answer. The bytes of files are made once: they are many.
 */
export function reflectFiles(files: readonly DescFile[]): (question: Question) => Uint8Array {
  const known = withImports(files);
  const byName = new Map(known.map((file) => [file.proto.name, file]));
  const bySymbol = new Map(
    known.flatMap((file) => symbolsOf(file).map((symbol) => [symbol, file] as const)),
  );
  const extensions = known.flatMap((file) =>
    [...nestedTypes(file)].filter((type) => type.kind === "extension"),
  );
  const answers = new Map(known.map((file) => [file, encode(sent(file))]));
  const services = files.flatMap((file) => file.services.map(({ typeName: name }) => ({ name })));

  const send = (file: DescFile | undefined, what: string) =>
    (file && answers.get(file)) ?? encode(notFound(what));

  return (question) => {
    switch (question.case) {
      case "listServices":
        return encode({ case: "listServicesResponse", value: { service: services } });
      case "fileByFilename":
        return send(byName.get(question.value), `file ${question.value}`);
      case "fileContainingSymbol":
        return send(bySymbol.get(question.value), `symbol ${question.value}`);
      case "fileContainingExtension": {
        const { containingType, extensionNumber } = question.value;
        const found = extensions.find(
          ({ extendee, number }) =>
            extendee.typeName === containingType && number === extensionNumber,
        );
        return send(found?.file, `extension ${extensionNumber} of ${containingType}`);
      }
      case "allExtensionNumbersOfType": {
        const baseTypeName = question.value;
        if (!bySymbol.has(baseTypeName)) return encode(notFound(`type ${baseTypeName}`));
        const extensionNumber = extensions
          .filter(({ extendee }) => extendee.typeName === baseTypeName)
          .map(({ number }) => number);
        const value = { baseTypeName, extensionNumber };
        return encode({ case: "allExtensionNumbersResponse", value });
      }
      default:
        return encode(failed(status.INVALID_ARGUMENT, "the request has no question"));
    }
  };
}

function encode(messageResponse: Answer): Uint8Array {
  return toBinary(
    ServerReflectionResponseSchema,
    create(ServerReflectionResponseSchema, { messageResponse }),
  );
}

/** A file, with everything that it imports. */
function sent(file: DescFile): Answer {
  const fileDescriptorProto = withImports([file]).map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  );
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto } };
}

function notFound(what: string): Answer {
  return failed(status.NOT_FOUND, `not found: ${what}`);
}

function failed(errorCode: status, errorMessage: string): Answer {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}

/** Files and everything that they import, each once. */
function withImports(files: readonly DescFile[]): DescFile[] {
  const found = new Set<DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file)) return;
    found.add(file);
    file.dependencies.forEach(visit);
  };
  files.forEach(visit);
  return [...found];
}

/** The full names of all types of a file, and of their members. */
function symbolsOf(file: DescFile): string[] {
  return [...nestedTypes(file)].flatMap((type) => [type.typeName, ...membersOf(type)]);
}

function membersOf(type: Exclude<AnyDesc, { kind: "file" }>): string[] {
  const inside = (of: string) => (member: { readonly name: string }) => `${of}.${member.name}`;
  switch (type.kind) {
    case "message":
      return [...type.fields, ...type.oneofs].map(inside(type.typeName));
    case "service":
      return type.methods.map(inside(type.typeName));
    case "enum":
      // The values of an enum stand beside it.
      return type.values.map(inside(type.parent?.typeName ?? type.file.proto.package));
    default:
      return [];
  }
}
