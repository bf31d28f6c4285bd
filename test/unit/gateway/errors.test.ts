import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { errorResponse } from "../../../src/gateway/errors.ts";

const INTERNAL = '{"error":"An error occurred while retrieving revenue data"}';

test.each<[ServiceErrorKind, number, Record<string, string>, string]>([
  ["invalidArgument", 400, {}, '{"error":"Bad Request","message":"why"}'],
  [
    "unauthenticated",
    401,
    { "www-authenticate": "Bearer" },
    '{"error":"Unauthorized","message":"why"}',
  ],
  ["notFound", 404, {}, '{"error":"Not Found","message":"why"}'],
  ["methodNotAllowed", 405, {}, '{"error":"Method Not Allowed","message":"why"}'],
  ["tooManyCalls", 429, { "retry-after": "1" }, '{"error":"Too Many Requests","message":"why"}'],
  ["overloaded", 503, { "retry-after": "1" }, '{"error":"Service Unavailable","message":"why"}'],
  ["databaseUnavailable", 500, {}, INTERNAL],
  ["deadlineExceeded", 500, {}, INTERNAL],
  ["canceled", 500, {}, INTERNAL],
  ["internal", 500, {}, INTERNAL],
])("%s: HTTP status %d", (kind, status, headers, body) => {
  const error = new ServiceError(kind, "why", { cause: new Error("password of the database") });
  expect(errorResponse(error)).toEqual({ status, headers, body });
});

test("every error of the catalogue has a JSON response", () => {
  for (const kind of Object.keys(serviceErrors) as ServiceErrorKind[]) {
    expect(JSON.parse(errorResponse(new ServiceError(kind)).body)).toHaveProperty("error");
  }
});

test("a message is escaped as JSON", () => {
  const response = errorResponse(new ServiceError("invalidArgument", 'a "b"\n\ud800'));
  expect(response.body).toBe('{"error":"Bad Request","message":"a \\"b\\"\\n\\ud800"}');
});
