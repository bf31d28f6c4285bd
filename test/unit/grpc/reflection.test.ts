/** Server reflection: files as they were compiled, whatever names them, v1 and v1alpha. */
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
import { file_health_v1_health } from "../../../gen/health/v1/health_pb.ts";
import { file_revenue_v1_revenue, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { reflectFiles } from "../../../src/grpc/reflected-files.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { listen } from "./grpc-server.ts";

type Question = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]
>;

const answerTo = reflectFiles([file_revenue_v1_revenue, file_health_v1_health]);

function ask(messageRequest: Question) {
  const request = create(ServerReflectionRequestSchema, { messageRequest });
  const bytes = answerTo(request.messageRequest);
  return fromBinary(ServerReflectionResponseSchema, bytes).messageResponse;
}

/** The files of an answer. */
function filesOf(question: Question) {
  const answer = ask(question);
  if (answer.case !== "fileDescriptorResponse") expect.unreachable(JSON.stringify(answer));
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

const CONTRACT = "revenue/v1/revenue.proto";
const OPTIONS = "google.protobuf.MethodOptions";

it("gives the contract as it was compiled, and all that it imports", () => {
  const files = filesOf({ case: "fileByFilename", value: CONTRACT });
  const [sent, compiled] = [files[0], file_revenue_v1_revenue.proto].map(
    (file) => file && toBinary(FileDescriptorProtoSchema, file),
  );
  expect(sent).toEqual(compiled);
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files.reverse() }));
  const service = registry.getService(RevenueService.typeName);
  const paths = service?.methods.map((method) => getOption(method, http).pattern.value);
  expect(paths).toContain("/api/provider/revenue");
});

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const extension = (containingType: string, extensionNumber: number): Question => ({
  case: "fileContainingExtension",
  value: { containingType, extensionNumber },
});
const numbersOf = (value: string): Question => ({ case: "allExtensionNumbersOfType", value });

it.each<[Question, string]>([
  [symbol(RevenueService.typeName), CONTRACT],
  [symbol(`${RevenueService.typeName}.GetOverview`), CONTRACT],
  [symbol("google.type.Decimal"), "google/type/decimal.proto"],
  [symbol("grpc.health.v1.HealthCheckResponse.ServingStatus"), "health/v1/health.proto"],
  [symbol("google.api.http"), "google/api/annotations.proto"],
  [extension(OPTIONS, 72_295_728), "google/api/annotations.proto"],
])("%j is in %s", (question, name) => {
  expect(filesOf(question)[0]?.name).toBe(name);
});

it.each<[Question, object]>([
  [numbersOf(OPTIONS), { value: { extensionNumber: [72_295_728] } }],
  [numbersOf("revenue.v1.Summary"), { value: { extensionNumber: [] } }],
  ...[
    { case: "fileByFilename", value: "other.proto" } as const,
    ...[symbol("constructor"), numbersOf("revenue.v1.Other"), extension(OPTIONS, 1)],
    extension("revenue.v1.Summary", 72_295_728),
  ].map((question): [Question, object] => [question, { value: { errorCode: status.NOT_FOUND } }]),
  [{ case: undefined }, { value: { errorCode: status.INVALID_ARGUMENT } }],
])("%j is answered with %j", (question, answer) => {
  expect(ask(question)).toMatchObject(answer);
});

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
const SERVICES: Question = { case: "listServices", value: "*" };

it.each(["v1", "v1alpha"])(
  "%s lists the services, and finds the details of errors",
  async (version) => {
    const questions = [SERVICES, symbol("google.rpc.ErrorInfo")];
    const service = [{ name: RevenueService.typeName }, { name: "grpc.health.v1.Health" }];
    expect(await exchange((await listen()).port, questions.map(bytesOf), version)).toMatchObject([
      {
        validHost: "h",
        originalRequest: requestOf(SERVICES),
        messageResponse: { value: { service } },
      },
      { messageResponse: { case: "fileDescriptorResponse" } },
    ]);
  },
);

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
