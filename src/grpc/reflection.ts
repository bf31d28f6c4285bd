/** Server reflection, `v1` and `v1alpha`, so that `buf curl` and grpcurl need no schema. */
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { markMalformed } from "./malformed-message.ts";

/** The library reads nothing of a grpc-js definition but the encoded files in it. */
type PackageDefinition = ConstructorParameters<typeof ReflectionService>[0];

/** Adds reflection on the services in these files, and on what the files import, to a server. */
export function addReflection(server: Server, files: readonly DescFile[]): void {
  const fileDescriptorProtos = withImports(files).map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
  );
  const definition: object = { everything: { fileDescriptorProtos } };
  const addService: Server["addService"] = (service, handlers) =>
    server.addService(markMalformed(service), handlers);
  new ReflectionService(definition as PackageDefinition).addToServer({ addService } as Server);
}

function withImports(files: readonly DescFile[]): DescFile[] {
  const found = new Map<string, DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file.name)) return;
    found.set(file.name, file);
    file.dependencies.forEach(visit);
  };
  files.forEach(visit);
  return [...found.values()];
}
