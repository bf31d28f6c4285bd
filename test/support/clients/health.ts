/** A client of the standard health service: https://github.com/grpc/grpc/blob/master/doc/health-checking.md */
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { type Client, type ClientReadableStream, type ServiceError, status } from "@grpc/grpc-js";
import {
  Health,
  type HealthCheckResponse,
  HealthCheckResponse_ServingStatusSchema,
  type HealthListResponse,
} from "../../../gen/health/v1/health_pb.ts";

/** The status of a service. Rejects with an Error whose message is the gRPC code. */
export async function checkHealth(client: Client, service: string): Promise<string> {
  return statusName(await unary(client, Health.method.check, { service }));
}

/** The status of every service by name. */
export async function listHealth(client: Client): Promise<Record<string, string>> {
  const { statuses }: HealthListResponse = await unary(client, Health.method.list, {});
  return Object.fromEntries(
    Object.entries(statuses).map(([name, response]) => [name, statusName(response)]),
  );
}

/** An open watch of a service's health. */
export interface Watch {
  /** The statuses received so far. */
  readonly statuses: readonly string[];
  /** Resolves when the stream has ended, with or without an error. */
  readonly ended: Promise<void>;
  cancel(): void;
}

/** Starts to watch the status of a service. */
export function watchHealth(client: Client, service: string): Watch {
  const { name, input, output } = Health.method.watch;
  const stream: ClientReadableStream<HealthCheckResponse> = client.makeServerStreamRequest(
    `/${Health.typeName}/${name}`,
    (message: MessageShape<typeof input>) => Buffer.from(toBinary(input, message)),
    (bytes) => fromBinary(output, bytes),
    create(input, { service }),
  );
  const statuses: string[] = [];
  stream.on("data", (response) => statuses.push(statusName(response)));
  stream.on("error", () => {});
  const ended = new Promise<void>((resolve) => stream.once("close", resolve));
  return { statuses, ended, cancel: () => stream.cancel() };
}

interface Method<I extends DescMessage, O extends DescMessage> {
  readonly name: string;
  readonly input: I;
  readonly output: O;
}

function unary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  { name, input, output }: Method<I, O>,
  fields: { readonly service?: string },
): Promise<MessageShape<O>> {
  const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
  client.makeUnaryRequest(
    `/${Health.typeName}/${name}`,
    (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
    (bytes) => fromBinary(output, bytes),
    Object.assign(create(input), fields),
    (error: ServiceError | null, response) =>
      response === undefined ? reject(new Error(codeName(error))) : resolve(response),
  );
  return promise;
}

function codeName(error: ServiceError | null): string {
  return error === null ? "no message" : (status[error.code] ?? `${error.code}`);
}

function statusName(response: HealthCheckResponse): string {
  return HealthCheckResponse_ServingStatusSchema.value[response.status]?.name ?? "?";
}
