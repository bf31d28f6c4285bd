/**
 * Writes `gen/openapi.json`, and the document of a port that accepts service keys. A plugin of buf, so that `npm run generate` and the check that `gen/` is
 * current cover it (buf.gen.yaml): it reads a CodeGeneratorRequest from stdin and writes a
 * CodeGeneratorResponse to stdout.
 *
 * @see https://protobuf.com/docs/descriptors#code-generators
 */
import { buffer } from "node:stream/consumers";
import {
  create,
  createFileRegistry,
  type DescService,
  fromBinary,
  toBinary,
} from "@bufbuild/protobuf";
import {
  CodeGeneratorRequestSchema,
  CodeGeneratorResponse_Feature,
  CodeGeneratorResponseSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { servicesOn } from "../../src/services.ts";
import { createDocument } from "./document.ts";
import { writeJson } from "./json.ts";
import { documentParts } from "./parts.ts";

const request = fromBinary(CodeGeneratorRequestSchema, await buffer(process.stdin));
const files = createFileRegistry(create(FileDescriptorSetSchema, { file: request.protoFile }));
/** As `buf` has read them: generated code has no comments. */
function read({ typeName }: DescService): DescService {
  const service = files.getService(typeName);
  if (service === undefined) throw new Error(`the contract has no ${typeName}`);
  return service;
}
function contentFor(serviceKeys: boolean): string {
  const services = servicesOn("http", serviceKeys ? "all" : "grpc").map(read);
  return writeJson(createDocument(services, documentParts(services, serviceKeys)));
}
const response = create(CodeGeneratorResponseSchema, {
  supportedFeatures: BigInt(CodeGeneratorResponse_Feature.PROTO3_OPTIONAL),
  file: [
    { name: "openapi.json", content: contentFor(false) },
    { name: "openapi-service-keys.json", content: contentFor(true) },
  ],
});
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
