import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { errorResponse, methodNotAllowed } from "../../../src/gateway/errors.ts";

test.each(Object.keys(serviceErrors) as ServiceErrorKind[])(
  "%s is JSON with its message, has its reason as a header, and is without any detail if the service is at fault",
  (kind) => {
    const { status, error } = serviceErrors[kind];
    const cause = new Error("password of the database");
    const response = errorResponse(new ServiceError(kind, '"why"\n', { cause }));
    const isShown = status < 500 || kind === "overloaded";
    expect(response.status).toBe(status);
    const reason = kind.replace(/[A-Z]/g, "_$&").toUpperCase();
    expect(response.headers).toHaveProperty("error-reason", reason);
    expect(JSON.parse(response.body)).toEqual({ error, ...(isShown && { message: '"why"\n' }) });
  },
);

test("a wrong method has its reason, and the methods that are allowed", () => {
  const headers = { allow: "GET, HEAD", "error-reason": "METHOD_NOT_ALLOWED" };
  expect(methodNotAllowed(["GET", "HEAD"])).toMatchObject({ status: 405, headers });
});
