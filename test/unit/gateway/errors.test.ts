import { expect, test } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../../src/errors.ts";
import { errorResponse } from "../../../src/gateway/errors.ts";

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
