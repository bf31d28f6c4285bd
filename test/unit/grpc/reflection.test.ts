/** What reflection answers: files as they were compiled, whatever names them. */
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
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import {
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { file_revenue_v1_revenue, RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { QUESTIONS } from "../../../src/grpc/reflection.ts";
import { grpcClient } from "../../support/clients/grpc-client.ts";
import { listen } from "./grpc-server.ts";

type Question = NonNullable<
  MessageInitShape<typeof ServerReflectionRequestSchema>["messageRequest"]
>;

let port: number;
beforeEach(async () => {
  ({ port } = await listen());
});

/** Sends messages on a stream of reflection. Resolves to the responses, and rejects if it fails. */
function exchange(messages: readonly Uint8Array[], version = "v1") {
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

async function ask(question: Question, version?: string) {
  const [response] = await exchange([bytesOf(question)], version);
  expect(response).toMatchObject({ validHost: "h", originalRequest: requestOf(question) });
  return response?.messageResponse;
}

/** The files of an answer. */
async function filesOf(question: Question) {
  const answer = await ask(question);
  if (answer?.case !== "fileDescriptorResponse") expect.unreachable(JSON.stringify(answer));
  return answer.value.fileDescriptorProto.map((bytes) =>
    fromBinary(FileDescriptorProtoSchema, bytes),
  );
}

const CONTRACT = "revenue/v1/revenue.proto";
const OPTIONS = "google.protobuf.MethodOptions";

it.each(["v1", "v1alpha"])("%s lists the services", async (version) => {
  expect(await ask({ case: "listServices", value: "*" }, version)).toMatchObject({
    value: { service: [{ name: RevenueService.typeName }, { name: "grpc.health.v1.Health" }] },
  });
});

it("gives the contract as it was compiled, and all that it imports", async () => {
  const files = await filesOf({ case: "fileByFilename", value: CONTRACT });
  const [sent, compiled] = [files[0], file_revenue_v1_revenue.proto].map(
    (file) => file && toBinary(FileDescriptorProtoSchema, file),
  );
  expect(sent).toEqual(compiled);
  const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: files.reverse() }));
  const service = registry.getService(RevenueService.typeName);
  const paths = service?.methods.map((method) => getOption(method, http).pattern.value);
  expect(paths).toEqual(RevenueService.methods.map((one) => getOption(one, http).pattern.value));
  expect(paths).toContain("/api/provider/revenue");
});

const symbol = (value: string): Question => ({ case: "fileContainingSymbol", value });
const extension = (containingType: string, extensionNumber: number): Question => ({
  case: "fileContainingExtension",
  value: { containingType, extensionNumber },
});

it.each<[Question, string]>([
  [symbol(RevenueService.typeName), CONTRACT],
  [symbol(`${RevenueService.typeName}.GetOverview`), CONTRACT],
  [symbol("revenue.v1.Payout.amount"), CONTRACT],
  [symbol("google.type.Decimal"), "google/type/decimal.proto"],
  // the details of errors, which grpcurl looks up
  [symbol("google.rpc.ErrorInfo"), "google/rpc/error_details.proto"],
  // a value of an enum stands beside the enum
  [symbol("grpc.health.v1.HealthCheckResponse.SERVING"), "health/v1/health.proto"],
  [symbol("google.api.http"), "google/api/annotations.proto"],
  [extension(OPTIONS, 72_295_728), "google/api/annotations.proto"],
])("%j is in %s", async (question, name) => {
  const [file] = await filesOf(question);
  expect(file?.name).toBe(name);
});

it("tells the numbers of all extensions of a type, which may have none", async () => {
  const numbers = async (value: string) => {
    const answer = await ask({ case: "allExtensionNumbersOfType", value });
    return answer?.case === "allExtensionNumbersResponse" && answer.value.extensionNumber;
  };
  expect(await numbers(OPTIONS)).toEqual([72_295_728]);
  expect(await numbers("revenue.v1.Summary")).toEqual([]);
});

it.each<[Question, number]>([
  [{ case: "fileByFilename", value: "other.proto" }, status.NOT_FOUND],
  [symbol("revenue.v1.Other"), status.NOT_FOUND],
  [symbol("constructor"), status.NOT_FOUND],
  [{ case: "allExtensionNumbersOfType", value: "revenue.v1.Other" }, status.NOT_FOUND],
  [extension(OPTIONS, 1), status.NOT_FOUND],
  [{ case: undefined }, status.INVALID_ARGUMENT],
])("%j is answered with the error %i", async (question, errorCode) => {
  expect(await ask(question)).toMatchObject({ case: "errorResponse", value: { errorCode } });
});

it("a malformed question ends the stream", async () => {
  const failed = exchange([Buffer.of(0xff), Buffer.of(0xff)]);
  await expect(failed).rejects.toMatchObject({ code: status.INVALID_ARGUMENT });
});

it("a connection may ask 200 questions at once", async () => {
  const bytes = bytesOf({ case: "listServices", value: "*" });
  const { burst } = QUESTIONS;
  expect(await exchange(Array(burst).fill(bytes))).toHaveLength(burst);
  // As many again are more than its rate allows meanwhile.
  const failed = exchange(Array(40 * burst).fill(bytes));
  await expect(failed).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED });
});

it("can be turned off", async () => {
  ({ port } = await listen({ reflection: "off" }));
  const failed = ask({ case: "listServices", value: "*" });
  await expect(failed).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

it("the contract imports Google's files alone, so that it compiles wherever its folder is copied", () => {
  const { dependencies } = file_revenue_v1_revenue;
  expect(dependencies.length).toBeGreaterThan(0);
  for (const { name } of dependencies) expect(name).toMatch(/^google\//);
});
