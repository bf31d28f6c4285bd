import { expect, test } from "vitest";
import { bindRoutes } from "../../../../src/gateway/transcoding/routes.ts";
import { servicesOn } from "../../../../src/services.ts";
import { paths } from "../../../support/request.ts";
import { serviceOf } from "./contract.ts";

test("the services are on the paths that their clients depend on", () => {
  const templates = bindRoutes(servicesOn("http", "all")).map(({ method, path }) => [
    method.name,
    path,
  ]);
  expect(Object.fromEntries(templates)).toEqual(paths);
});

const FIELD = "field transcoding.unsupported";
const PARAMETER = "a field of this type cannot be a query parameter";

test.each([
  ["WithoutAnnotation", "missing google.api.http annotation"],
  ["WithSideEffects", "idempotency_level must be NO_SIDE_EFFECTS"],
  ["Streaming", "streaming is not supported"],
  ["Posting", '"post" is not supported, only "get"'],
  ["WithBody", '"body" is not supported'],
  ["WithResponseBody", '"response_body" is not supported'],
  ["WithAdditionalBindings", '"additional_bindings" is not supported'],
  ...[
    ["Variable", "/a/{name}"],
    ["Wildcard", "/a/*"],
    ["DotSegment", "/a/../b"],
    ["EmptySegment", "/a/"],
    ["Verb", "/a:get"],
  ].map(([name, path]) => [
    name,
    `the path "${path}" is not supported, only segments of letters, digits and -._~`,
  ]),
  ["MessageParameter", `${FIELD}.WithMessage.response: ${PARAMETER}`],
  ["RepeatedParameter", `${FIELD}.WithRepeated.names: ${PARAMETER}`],
  ["EnumParameter", `${FIELD}.WithEnum.choice: ${PARAMETER}`],
  ["LongParameter", `${FIELD}.WithLong.number: ${PARAMETER}`],
  ["OneofParameter", `${FIELD}.WithOneof.name: ${PARAMETER}`],
  ...[
    ["MapResponse", "WithMap.names: a map"],
    ["OneofResponse", "WithOneof.name: a member of a oneof"],
    ["RecursiveResponse", "WithItself.children: a recursive type"],
    ["AnyResponse", "WithAny.any: the well-known type google.protobuf.Any"],
    ["EnumResponse", "WithEnum.choice: a value of this type"],
    ["LongResponse", "WithLong.number: a value of this type"],
  ].map(([name, what]) => [name, `field transcoding.unsupported.${what} is not supported`]),
])("an annotation that is not supported is an error at start: %s", (name, reason) => {
  const refused = serviceOf("transcoding.unsupported.Refused");
  const methods = refused.methods.filter((method) => method.name === name);
  expect(() => bindRoutes([{ ...refused, methods }])).toThrow(
    new Error(`cannot serve transcoding.unsupported.Refused.${name} over REST: ${reason}`),
  );
});

test("two RPCs with the same path are an error", () => {
  expect(() => bindRoutes([serviceOf("transcoding.unsupported.OnePathTwice")])).toThrow(
    new Error(
      "cannot serve transcoding.unsupported.OnePathTwice.Find over REST: its path /a/b is already the path of Get",
    ),
  );
});
