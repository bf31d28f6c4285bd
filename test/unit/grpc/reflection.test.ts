/** Server reflection: files as they were compiled, v1 and v1alpha. */
import {
  create,
  createFileRegistry,
  fromBinary,
  getOption,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { status } from "@grpc/grpc-js";
import { expect, it, onTestFinished } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import {
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { file_revenue_v1_revenue, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { listen } from "./grpc-server.ts";

type Question = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]
>;

/** Sends messages on a stream. Resolves to the responses, and rejects if it fails. */
function exchange(port: number, messages: readonly Uint8Array[], version = "v1") {
  const client = grpcClient(`127.0.0.1:${port}`);
  onTestFinished(() => client.close());
  const stream = client.makeBidiStreamRequest(
    `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    (bytes: Uint8Array) => Buffer.from(bytes),
    (bytes) => fromBinary(ServerReflectionResponseSchema, bytes),
  );
  for (const message of messages) stream.write(message);
  stream.end();
  return stream.toArray() as Promise<ServerReflectionResponse[]>;
}

const requestOf = (messageRequest: Question) =>
  create(ServerReflectionRequestSchema, { host: "h", messageRequest });
const bytesOf = (question: Question) =>
  toBinary(ServerReflectionRequestSchema, requestOf(question));

/** The answers to questions on one stream. */
async function ask(...questions: readonly Question[]) {
  const answers = await exchange((await listen()).port, questions.map(bytesOf));
  return answers.map(({ messageResponse }) => messageResponse);
}

/** The files of an answer. */
function filesOf(answer: ServerReflectionResponse["messageResponse"] | undefined) {
  if (answer?.case !== "fileDescriptorResponse") expect.unreachable(JSON.stringify(answer));
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

const CONTRACT = "revenue/v1/revenue.proto";
const SERVICES: Question = { case: "listServices", value: "*" };
const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });

it("gives the contract as it was compiled, and all that it imports", async () => {
  const files = filesOf((await ask({ case: "fileByFilename", value: CONTRACT }))[0]);
  const [sent, compiled] = [files[0], file_revenue_v1_revenue.proto].map(
    (file) => file && toBinary(FileDescriptorProtoSchema, file),
  );
  expect(sent).toEqual(compiled);
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files.reverse() }));
  const service = registry.getService(RevenueService.typeName);
  const paths = service?.methods.map((method) => getOption(method, http).pattern.value);
  expect(paths).toContain("/api/provider/revenue");
});

it("a type, a method, an extension and the details of errors are found in their files", async () => {
  const symbols: readonly (readonly [symbol: string, file: string])[] = [
    [RevenueService.typeName, CONTRACT],
    [`${RevenueService.typeName}.GetOverview`, CONTRACT],
    ["google.type.Decimal", "google/type/decimal.proto"],
    ["grpc.health.v1.HealthCheckResponse.ServingStatus", "health/v1/health.proto"],
    ["google.api.http", "google/api/annotations.proto"],
    ["google.rpc.ErrorInfo", "google/rpc/error_details.proto"],
  ];
  const answers = await ask(...symbols.map(([name]) => symbol(name)));
  expect(answers.map((answer) => filesOf(answer)[0]?.name)).toEqual(
    symbols.map(([, file]) => file),
  );
});

it("what is not known is NOT_FOUND, and what cannot be asked for UNIMPLEMENTED", async () => {
  const answers = await ask(
    { case: "fileByFilename", value: "other.proto" },
    symbol("constructor"),
    { case: "allExtensionNumbersOfType", value: RevenueService.typeName },
    { case: undefined },
  );
  const { NOT_FOUND, UNIMPLEMENTED } = status;
  expect(answers).toMatchObject(
    [NOT_FOUND, NOT_FOUND, UNIMPLEMENTED, UNIMPLEMENTED].map((errorCode) => ({
      value: { errorCode },
    })),
  );
});

it.each(["v1", "v1alpha"])("%s lists the services, beside the question", async (version) => {
  const service = [{ name: RevenueService.typeName }, { name: "grpc.health.v1.Health" }];
  expect(await exchange((await listen()).port, [bytesOf(SERVICES)], version)).toMatchObject([
    {
      validHost: "h",
      originalRequest: requestOf(SERVICES),
      messageResponse: { value: { service } },
    },
  ]);
});

it("a malformed question ends the stream, and reflection can be turned off", async () => {
  const malformed = exchange((await listen()).port, [Buffer.of(0xff), Buffer.of(0xff)]);
  await expect(malformed).rejects.toMatchObject({ code: status.INTERNAL });
  const off = exchange((await listen({ reflection: "off" })).port, [bytesOf(SERVICES)]);
  await expect(off).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

it("the contract imports Google's files alone, so that it compiles wherever its folder is copied", () => {
  const names = file_revenue_v1_revenue.dependencies.map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith("google/"))).toEqual([]);
});
