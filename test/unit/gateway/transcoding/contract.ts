/** Descriptors of the proto files of these tests (test/unit/gateway/transcoding/proto), compiled by buf at run time. */
import { execFileSync } from "node:child_process";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const folder = "test/unit/gateway/transcoding/proto";
const google = "node_modules/google-proto-files";
const config = {
  version: "v2",
  modules: [
    { path: folder },
    { path: google, includes: [`${google}/google/api`, `${google}/google/type`] },
  ],
};
const descriptors = execFileSync(
  "node_modules/.bin/buf",
  ["build", folder, "--config", JSON.stringify(config), "--as-file-descriptor-set", "-o", "-"],
  { maxBuffer: 64 * 1024 * 1024 },
);
const contract = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));

/** A service in the proto files of these tests: "transcoding.supported.ThingService". */
export function serviceOf(typeName: string) {
  const service = contract.getService(typeName);
  if (service === undefined) throw new Error(`no service ${typeName}`);
  return service;
}

/** A message type in the proto files of these tests. */
export function messageOf(typeName: string) {
  const message = contract.getMessage(typeName);
  if (message === undefined) throw new Error(`no message ${typeName}`);
  return message;
}
