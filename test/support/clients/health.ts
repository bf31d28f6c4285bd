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

/** The status of a service by its name; rejects with the code's name where there is none. */
export async function checkHealth(client: Client, service: string): Promise<string> {
  return statusName(await unary(client, Health.method.check, { service }));
}

/** The status of each service that there is. */
export async function listHealth(client: Client): Promise<Record<string, string>> {
  const { statuses }: HealthListResponse = await unary(client, Health.method.list, {});
  return Object.fromEntries(
    Object.entries(statuses).map(([name, response]) => [name, statusName(response)]),
  );
}

/** What a watch of a service's health has seen. */
export interface Watch {
  /** The statuses so far, and when (`performance.now()`). */
  readonly seen: { readonly status: string; readonly at: number }[];
  /** Resolves when the stream is over, however it ends. */
  readonly over: Promise<void>;
  cancel(): void;
}

export function watchHealth(client: Client, service: string): Watch {
  const { path, input, output } = partsOf(Health.method.watch);
  const stream: ClientReadableStream<HealthCheckResponse> = client.makeServerStreamRequest(
    path,
    (message: MessageShape<typeof input>) => Buffer.from(toBinary(input, message)),
    (bytes) => fromBinary(output, bytes),
    create(input, { service }),
  );
  const seen: { status: string; at: number }[] = [];
  stream.on("data", (response) => {
    seen.push({ status: statusName(response), at: performance.now() });
  });
  stream.on("error", () => {});
  const over = new Promise<void>((resolve) => stream.once("close", resolve));
  return { seen, over, cancel: () => stream.cancel() };
}

interface Method<I extends DescMessage, O extends DescMessage> {
  readonly name: string;
  readonly input: I;
  readonly output: O;
}

function partsOf<I extends DescMessage, O extends DescMessage>(method: Method<I, O>) {
  return { ...method, path: `/${Health.typeName}/${method.name}` };
}

function unary<I extends DescMessage, O extends DescMessage>(
  client: Client,
  method: Method<I, O>,
  fields: { readonly service?: string },
): Promise<MessageShape<O>> {
  const { name, input, output } = method;
  const { promise, resolve, reject } = Promise.withResolvers<MessageShape<O>>();
  client.makeUnaryRequest(
    `/${Health.typeName}/${name}`,
    (message: MessageShape<I>) => Buffer.from(toBinary(input, message)),
    (bytes) => fromBinary(output, bytes),
    Object.assign(create(input), fields),
    (error: ServiceError | null, response) =>
      response === undefined ? reject(new Error(nameOf(error))) : resolve(response),
  );
  return promise;
}

function nameOf(error: ServiceError | null): string {
  return error === null ? "no message" : (status[error.code] ?? `${error.code}`);
}

function statusName(response: HealthCheckResponse): string {
  return HealthCheckResponse_ServingStatusSchema.value[response.status]?.name ?? "?";
}
