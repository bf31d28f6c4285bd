/** Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. */
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Server } from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import { markMalformed } from "./messages/malformed-message.ts";

/** Of a package definition, the library reads `fileDescriptorProtos` only. */
type PackageDefinition = ConstructorParameters<typeof ReflectionService>[0];

/** Adds reflection to a server, for the services in `files` and everything that these import. */
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
