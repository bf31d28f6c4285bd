/**
 * What an error carries over gRPC, Connect and gRPC-Web besides its code and its message, for programs:
 * details of google.rpc, and metadata. All of it follows from the catalogue (src/errors.ts).
 *
 * @see https://google.aip.dev/193
 */
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { protoSnakeCase } from "@bufbuild/protobuf/reflect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../gen/google/rpc/error_details_pb.ts";
import type { ServiceError, ServiceErrorKind } from "../errors.ts";

/** The domain of the reasons. */
export const ERROR_DOMAIN = "revenue-service";

/** A message of google.rpc, in the form that Connect-ES takes. */
export interface ErrorDetail<Desc extends DescMessage = DescMessage> {
  readonly desc: Desc;
  readonly value: MessageInitShape<Desc>;
}

/** The reason of an error: `rateLimited` is RATE_LIMITED. */
export function reasonOf(kind: ServiceErrorKind): string {
  return protoSnakeCase(kind).toUpperCase();
}

/** The details of an error: its reason, the field that is wrong, and when to retry. */
export function detailsOf({ kind, field, message, metadata }: ServiceError): ErrorDetail[] {
  const info = { reason: reasonOf(kind), domain: ERROR_DOMAIN };
  const details: ErrorDetail[] = [detail(ErrorInfoSchema, info)];
  if (field !== undefined) {
    const violation = { field: protoSnakeCase(field), description: message };
    details.push(detail(BadRequestSchema, { fieldViolations: [violation] }));
  }
  const seconds = metadata["retry-after"];
  if (seconds !== undefined) {
    details.push(detail(RetryInfoSchema, { retryDelay: { seconds: BigInt(seconds) } }));
  }
  return details;
}

/** TypeScript relates `value` to `desc` here alone. */
function detail<Desc extends DescMessage>(desc: Desc, value: MessageInitShape<Desc>): ErrorDetail {
  return { desc, value };
}

/**
 * The metadata of an error: its own, and if that says when to retry, the same for gRPC's own retries.
 *
 * @see https://github.com/grpc/proposal/blob/master/A6-client-retries.md#pushback
 */
export function rpcMetadata({ metadata }: ServiceError): Readonly<Record<string, string>> {
  const seconds = metadata["retry-after"];
  if (seconds === undefined) return metadata;
  return { ...metadata, "grpc-retry-pushback-ms": String(Number(seconds) * 1_000) };
}
