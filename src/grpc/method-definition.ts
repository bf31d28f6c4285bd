/** The definition of a method for grpc-js, whose responses are bytes already. */
import type { DescMethod } from "@bufbuild/protobuf";
import type { MethodDefinition } from "@grpc/grpc-js";

const pass = (bytes: Buffer) => bytes;

/**
 * Defines a method.
 *
 * @param decode reads a request. grpc-js answers INTERNAL if it throws
 * @param service the name of its service, by default the contract's
 */
export function defineMethod<Request>(
  { name, parent, methodKind }: DescMethod,
  decode: (bytes: Buffer) => Request,
  service = parent.typeName,
): MethodDefinition<Request, Buffer> {
  return {
    path: `/${service}/${name}`,
    requestStream: methodKind === "client_streaming" || methodKind === "bidi_streaming",
    responseStream: methodKind === "server_streaming" || methodKind === "bidi_streaming",
    requestDeserialize: decode,
    responseSerialize: pass,
    // A server calls neither.
    requestSerialize: () => Buffer.alloc(0),
    responseDeserialize: pass,
  };
}
