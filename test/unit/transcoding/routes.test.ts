import { expect, test } from "vitest";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { bindRoutes } from "../../../src/gateway/transcoding/routes.ts";
import { serviceOf } from "./contract.ts";

test("each annotated RPC is a route", () => {
  expect(
    bindRoutes(serviceOf("gateway.shapes.ThingService")).map((route) => [
      route.method.name,
      route.template,
    ]),
  ).toEqual([
    ["GetThing", "/v1/things/{thing_id}"],
    ["GetLatestThing", "/v1/things/latest"],
  ]);
});

test("the revenue service is served on the paths of its specification", () => {
  expect(bindRoutes(RevenueService).map((route) => route.template)).toEqual([
    "/api/provider/revenue",
    "/api/provider/revenue/servers",
  ]);
});

test.each([
  ["WithoutAnnotation", "it has no google.api.http annotation"],
  ["WithSideEffects", "served is what has idempotency_level = NO_SIDE_EFFECTS"],
  ["Streaming", "streaming is not served"],
  ["Posting", '"post" is not served, only "get"'],
  ["CustomMethod", '"custom" is not served, only "get"'],
  ["WithBody", '"body" is not served'],
  ["WithResponseBody", '"response_body" is not served'],
  ["WithAdditionalBindings", '"additional_bindings" are not served'],
  ["Wildcard", 'path template "/a/*": wildcards are not served: "*" at position 3'],
  [
    "UnknownVariable",
    'path template "/a/{id}": the variable "id" names no field of gateway.refusals.Request',
  ],
  ["VariableTwice", 'path template "/{name}/{name}": the variable "name" occurs twice'],
  [
    "MessageVariable",
    'path template "/a/{response}": field gateway.refusals.WithMessage.response: a field of this type cannot be a path variable',
  ],
  ["MessageParameter", parameter("WithMessage.response")],
  ["RepeatedParameter", parameter("WithRepeated.names")],
  ["MapParameter", parameter("WithMap.names")],
  ["BytesParameter", parameter("WithBytes.raw")],
  ["OneofParameter", parameter("WithOneof.name")],
  ["MapResponse", "field gateway.refusals.WithMap.names: a map is not served"],
  ["OneofResponse", "field gateway.refusals.WithOneof.name: a member of a oneof is not served"],
  [
    "RecursiveResponse",
    "field gateway.refusals.WithItself.children: a type that contains itself is not served",
  ],
  ["AnyResponse", wellKnown("WithAny.any", "Any")],
  ["WrapperResponse", wellKnown("WithWrapper.number", "Int32Value")],
  ["NullResponse", wellKnown("WithNull.nothing", "NullValue")],
])("a service is refused at start: %s", (name, reason) => {
  expect(() => bindRoutes(serviceOf(`gateway.refusals.${name}`))).toThrow(
    new Error(`cannot serve gateway.refusals.${name}.Get as REST: ${reason}`),
  );
});

test("two RPCs on one path are refused, whatever their variables are called", () => {
  expect(() => bindRoutes(serviceOf("gateway.refusals.OnePathTwice"))).toThrow(
    new Error(
      "cannot serve gateway.refusals.OnePathTwice.Find as REST: its path /a/{number} is also that of Get",
    ),
  );
});

function parameter(field: string): string {
  return `path template "/a": field gateway.refusals.${field}: a field of this type cannot be a query parameter`;
}

function wellKnown(field: string, type: string): string {
  return `field gateway.refusals.${field}: the well-known type google.protobuf.${type} is not served`;
}
