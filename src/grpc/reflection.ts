/** Server reflection, `v1` and `v1alpha`, so that `buf curl` and grpcurl need no schema. */
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { ReflectionService } from "@grpc/reflection";

/** The library reads nothing of a grpc-js definition but the encoded files in it. */
type PackageDefinition = ConstructorParameters<typeof ReflectionService>[0];

/** Makes the reflection of the services in these files; what the files import is found from them. */
export function createReflection(files: readonly DescFile[]): ReflectionService {
  const fileDescriptorProtos = withImports(files).map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
  );
  const definition: object = { everything: { fileDescriptorProtos } };
  return new ReflectionService(definition as PackageDefinition);
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
