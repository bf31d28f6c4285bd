/**
 * A client of server reflection. It decodes the few fields that the tests need from the wire format:
 * https://github.com/grpc/grpc/blob/master/src/proto/grpc/reflection/v1/reflection.proto
 */
import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import type { Client } from "@grpc/grpc-js";

/** The versions of the reflection service that clients use. */
export type ReflectionVersion = "v1" | "v1alpha";

/** Field numbers of ServerReflectionRequest and ServerReflectionResponse. */
const FILE_BY_FILENAME = 3;
const FILE_CONTAINING_SYMBOL = 4;
const LIST_SERVICES = 7;
const FILE_DESCRIPTOR_RESPONSE = 4;
const LIST_SERVICES_RESPONSE = 6;

/** The names of all services that the server lists. */
export async function listServices(client: Client, version: ReflectionVersion): Promise<string[]> {
  const response = await query(client, version, LIST_SERVICES, "*");
  return fieldsOf(response, LIST_SERVICES_RESPONSE)
    .flatMap((list) => fieldsOf(list, 1))
    .flatMap((service) => fieldsOf(service, 1))
    .map((name) => Buffer.from(name).toString());
}

/** The files that the server returns for a symbol: the one that declares it and any others. */
export function filesContainingSymbol(
  client: Client,
  version: ReflectionVersion,
  symbol: string,
): Promise<FileDescriptorProto[]> {
  return queryFiles(client, version, FILE_CONTAINING_SYMBOL, symbol);
}

/** The files that the server returns for a file name: the file itself and any others. */
export function filesByName(
  client: Client,
  version: ReflectionVersion,
  name: string,
): Promise<FileDescriptorProto[]> {
  return queryFiles(client, version, FILE_BY_FILENAME, name);
}

async function queryFiles(client: Client, version: string, field: number, text: string) {
  return fieldsOf(await query(client, version, field, text), FILE_DESCRIPTOR_RESPONSE)
    .flatMap((list) => fieldsOf(list, 1))
    .map((file) => fromBinary(FileDescriptorProtoSchema, file));
}

function query(client: Client, version: string, field: number, text: string): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const stream = client.makeBidiStreamRequest(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => bytes,
  );
  stream.once("data", resolve);
  stream.once("error", reject);
  stream.end(new BinaryWriter().tag(field, WireType.LengthDelimited).string(text).finish());
  return promise;
}

/** The contents of every length-delimited field with this number. */
function fieldsOf(message: Uint8Array, number: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === number && type === WireType.LengthDelimited) found.push(reader.bytes());
    else reader.skip(type, field);
  }
  return found;
}
