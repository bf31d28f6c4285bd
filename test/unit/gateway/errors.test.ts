import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import {
  errorResponse,
  httpError,
  methodNotAllowed,
  notFound,
} from "../../../src/gateway/errors.ts";

const INSIDE = '{"error":"An error occurred while retrieving revenue data"}';

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
  ["databaseUnavailable", 500, {}, INSIDE],
  ["deadlineExceeded", 500, {}, INSIDE],
  ["canceled", 500, {}, INSIDE],
  ["internal", 500, {}, INSIDE],
])("%s is %d", (kind, status, headers, body) => {
  expect(errorResponse(new ServiceError(kind, "why"))).toEqual({ status, headers, body });
});

test("every failure of the catalogue has an answer in JSON", () => {
  for (const kind of Object.keys(serviceErrors) as ServiceErrorKind[]) {
    expect(JSON.parse(errorResponse(new ServiceError(kind)).body)).toHaveProperty("error");
  }
});

test("a cause never leaves the process", () => {
  const failure = ServiceError.from(new Error("password of the database"));
  expect(errorResponse(failure)).toEqual({ status: 500, headers: {}, body: INSIDE });
});

test("a message is escaped as JSON", () => {
  const answer = errorResponse(new ServiceError("invalidArgument", 'a "b"\n\ud800'));
  expect(answer.body).toBe('{"error":"Bad Request","message":"a \\"b\\"\\n\\ud800"}');
});

test("404 and 405 say what there is", () => {
  expect(notFound().body).toBe('{"error":"Not Found","message":"there is nothing at this path"}');
  expect(methodNotAllowed(["GET", "HEAD"])).toEqual({
    status: 405,
    headers: { allow: "GET, HEAD" },
    body: '{"error":"Method Not Allowed","message":"this path answers GET, HEAD"}',
  });
});

test.each([
  [400, '{"error":"Bad Request","message":"the request is not valid HTTP"}'],
  [408, '{"error":"Request Timeout","message":"the request took too long to arrive"}'],
  [413, '{"error":"Payload Too Large","message":"the request is too large"}'],
  [415, '{"error":"Unsupported Media Type","message":"this path does not take this content type"}'],
  [417, '{"error":"Expectation Failed","message":"this expectation cannot be met"}'],
  [
    431,
    '{"error":"Request Header Fields Too Large","message":"the request\'s headers are too large"}',
  ],
] as const)("an error of HTTP itself: %d", (status, body) => {
  expect(httpError(status)).toEqual({ status, headers: {}, body });
});
