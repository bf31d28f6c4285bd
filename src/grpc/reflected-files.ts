/** What server reflection tells of proto files. Bytes of files are made once: they are many. */
import { create, type DescFile, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import {
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "../../gen/grpc/reflection/v1/reflection_pb.ts";

type Type = ReturnType<typeof nestedTypes> extends Iterable<infer One> ? One : never;
type Question = ServerReflectionRequest["messageRequest"];
type Answer = NonNullable<
  MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]
>;

/**
 * Creates the function that answers questions about files and everything that these import, with a
 * ServerReflectionResponse that has only the answer.
 */
export function reflectFiles(files: readonly DescFile[]): (question: Question) => Uint8Array {
  const known = withImports(files);
  const answers = new Map<string, Uint8Array>();
  for (const file of known) {
    const answer = encode(sent(file));
    const types = [...nestedTypes(file)];
    for (const symbol of types.flatMap(namesOf))
      answers.set(`fileContainingSymbol ${symbol}`, answer);
    answers.set(`fileByFilename ${file.proto.name}`, answer);
    for (const type of types) {
      if (type.kind !== "extension") continue;
      answers.set(`fileContainingExtension ${type.extendee.typeName} ${type.number}`, answer);
    }
  }
  const types = known.flatMap((file) => [...nestedTypes(file)]);
  for (const { kind, typeName: baseTypeName } of types) {
    if (kind !== "message") continue;
    const extensionNumber = types
      .filter((type) => type.kind === "extension")
      .filter(({ extendee }) => extendee.typeName === baseTypeName)
      .map(({ number }) => number);
    const value = { baseTypeName, extensionNumber };
    const answer = encode({ case: "allExtensionNumbersResponse", value });
    answers.set(`allExtensionNumbersOfType ${baseTypeName}`, answer);
  }
  const service = files.flatMap((file) => file.services.map(({ typeName: name }) => ({ name })));
  const services = encode({ case: "listServicesResponse", value: { service } });

  return ({ case: kind, value }) => {
    if (kind === undefined)
      return encode(failed(status.INVALID_ARGUMENT, "the request has no question"));
    if (kind === "listServices") return services;
    const asked =
      typeof value === "string" ? value : `${value.containingType} ${value.extensionNumber}`;
    return (
      answers.get(`${kind} ${asked}`) ?? encode(failed(status.NOT_FOUND, `not found: ${asked}`))
    );
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

/** The full names of a type and of its members. */
function namesOf(type: Type): string[] {
  return [type.typeName, ...membersOf(type)];
}

function membersOf(type: Type): string[] {
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
