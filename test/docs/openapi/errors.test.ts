/** The OpenAPI document has every error of the catalogue that a REST caller can see. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { errorResponse } from "../../../src/gateway/errors.ts";

const { paths, components } = JSON.parse(readFileSync("gen/openapi.json", "utf8"));

/** Errors of Connect, gRPC-Web and gRPC only. */
const NOT_IN_REST: readonly ServiceErrorKind[] = ["unsupported"];
/** Errors whose message is always more specific than the catalogue's. */
const SPECIFIC: readonly ServiceErrorKind[] = ["invalidArgument", "methodNotAllowed"];

const kinds = (Object.keys(serviceErrors) as ServiceErrorKind[]).filter(
  (kind) => !NOT_IN_REST.includes(kind),
);

describe.each(Object.keys(paths))("%s", (path) => {
  it.each(kinds)("has the error %s", (kind) => {
    const { status, headers, body } = errorResponse(new ServiceError(kind));
    const name = paths[path].get.responses[status]?.$ref.replace(/.*\//, "");
    const response = components.responses[name];
    expect(Object.keys(response.headers)).toEqual(expect.arrayContaining(Object.keys(headers)));
    const { schema, examples } = response.content["application/json"];
    const { required } = components.schemas[schema.$ref.replace(/.*\//, "")];
    expect(required).toEqual(Object.keys(JSON.parse(body)));
    const bodies = Object.values<{ value: unknown }>(examples).map(({ value }) => value);
    if (!SPECIFIC.includes(kind)) expect(bodies).toContainEqual(JSON.parse(body));
  });

  it("has the same statuses for GET and HEAD", () => {
    const { get, head } = paths[path];
    expect(Object.keys(head.responses)).toEqual(Object.keys(get.responses));
  });
});
