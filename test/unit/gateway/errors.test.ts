import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { errorResponse, httpError } from "../../../src/gateway/errors.ts";

test.each(Object.keys(serviceErrors) as ServiceErrorKind[])(
  "%s is JSON with its message, and without any detail if the service is at fault",
  (kind) => {
    const { status, error } = serviceErrors[kind];
    const cause = new Error("password of the database");
    const response = errorResponse(new ServiceError(kind, '"why"\n', { cause }));
    const isShown = status < 500 || kind === "overloaded";
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body)).toEqual({ error, ...(isShown && { message: '"why"\n' }) });
  },
);

test("a status has one title, whether a call or HTTP itself failed", () => {
  const titleOf = ({ body }: { readonly body: string }) => JSON.parse(body).error;
  const call = errorResponse(new ServiceError("messageTooLarge"));
  expect(titleOf(httpError(413))).toBe(titleOf(call));
});
