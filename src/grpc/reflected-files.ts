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
 * ServerReflectionResponse that has only the answer. A symbol is a type, a service, a method or an extension.
 */
export function reflectFiles(files: readonly DescFile[]): (question: Question) => Uint8Array {
  const answers = new Map<string, Uint8Array>();
  const known = withImports(files);
  for (const file of known) {
    const withAll = withImports([file]).map(({ proto }) => proto);
    const fileDescriptorProto = withAll.map((one) => toBinary(FileDescriptorProtoSchema, one));
    const answer = encode({ case: "fileDescriptorResponse", value: { fileDescriptorProto } });
    const about = [`fileByFilename ${file.proto.name}`, ...[...nestedTypes(file)].flatMap(askedOf)];
    for (const question of about) answers.set(question, answer);
  }
  const types = known.flatMap((file) => [...nestedTypes(file)]);
  const extensions = types.filter((type) => type.kind === "extension");
  for (const { typeName: baseTypeName } of types.filter(({ kind }) => kind === "message")) {
    const own = extensions.filter(({ extendee }) => extendee.typeName === baseTypeName);
    const value = { baseTypeName, extensionNumber: own.map(({ number }) => number) };
    const answer = encode({ case: "allExtensionNumbersResponse", value });
    answers.set(`allExtensionNumbersOfType ${baseTypeName}`, answer);
  }
  const service = files.flatMap((file) => file.services.map(({ typeName: name }) => ({ name })));
  const services = encode({ case: "listServicesResponse", value: { service } });

  return ({ case: kind, value }) => {
    if (kind === "listServices") return services;
    if (kind === undefined) return failed(status.INVALID_ARGUMENT, "the request has no question");
    const isText = typeof value === "string";
    const asked = isText ? value : `${value.containingType} ${value.extensionNumber}`;
    return answers.get(`${kind} ${asked}`) ?? failed(status.NOT_FOUND, `not found: ${asked}`);
  };
}

/** The questions that a type of a file answers. */
function askedOf(type: Type): string[] {
  const symbols = [type.typeName];
  if (type.kind === "service") {
    symbols.push(...type.methods.map(({ name }) => `${type.typeName}.${name}`));
  }
  const questions = symbols.map((symbol) => `fileContainingSymbol ${symbol}`);
  if (type.kind !== "extension") return questions;
  return [...questions, `fileContainingExtension ${type.extendee.typeName} ${type.number}`];
}

function encode(messageResponse: Answer): Uint8Array {
  return toBinary(
    ServerReflectionResponseSchema,
    create(ServerReflectionResponseSchema, { messageResponse }),
  );
}

function failed(errorCode: status, errorMessage: string): Uint8Array {
  return encode({ case: "errorResponse", value: { errorCode, errorMessage } });
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
