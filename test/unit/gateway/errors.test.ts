import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import {
  errorResponse,
  httpError,
  methodNotAllowed,
  notFound,
} from "../../../src/gateway/errors.ts";

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
  expect(errorResponse(new ServiceError(kind, "why"))).toEqual({ status, headers, body });
});

test("every error of the catalogue has a JSON response", () => {
  for (const kind of Object.keys(serviceErrors) as ServiceErrorKind[]) {
    expect(JSON.parse(errorResponse(new ServiceError(kind)).body)).toHaveProperty("error");
  }
});

test("the cause of an error is not sent", () => {
  const error = ServiceError.from(new Error("password of the database"));
  expect(errorResponse(error)).toEqual({ status: 500, headers: {}, body: INTERNAL });
});

test("a message is escaped as JSON", () => {
  const response = errorResponse(new ServiceError("invalidArgument", 'a "b"\n\ud800'));
  expect(response.body).toBe('{"error":"Bad Request","message":"a \\"b\\"\\n\\ud800"}');
});

test("an unknown path is a 404", () => {
  expect(notFound()).toEqual(errorResponse(new ServiceError("notFound")));
});

test("a 405 lists the allowed methods, in its message and in Allow", () => {
  expect(methodNotAllowed(["GET", "HEAD"])).toEqual({
    status: 405,
    headers: { allow: "GET, HEAD" },
    body: '{"error":"Method Not Allowed","message":"allowed methods: GET, HEAD"}',
  });
});

test.each([
  [400, '{"error":"Bad Request","message":"the request is not valid HTTP"}'],
  [408, '{"error":"Request Timeout","message":"the request was not received in time"}'],
  [413, '{"error":"Payload Too Large","message":"the request is too large"}'],
  [415, '{"error":"Unsupported Media Type","message":"unsupported content type"}'],
  [417, '{"error":"Expectation Failed","message":"unsupported expectation"}'],
  [
    431,
    '{"error":"Request Header Fields Too Large","message":"the request headers are too large"}',
  ],
] as const)("a malformed HTTP request: status %d", (status, body) => {
  expect(httpError(status)).toEqual({ status, headers: {}, body });
});
