/**
 * The error catalogue: every way in which a call can fail, with its gRPC code, its HTTP status
 * and its message to the caller. It does not depend on where errors are raised or how a protocol
 * formats them.
 */
import { Code } from "@connectrpc/connect";

interface Entry {
  /** The gRPC and Connect code. */
  readonly code: Code;
  /** The HTTP status of the REST response. */
  readonly status: number;
  /** The `error` field of the REST response. */
  readonly error: string;
  /** The message to the caller, unless the error carries a more specific one. */
  readonly message: string;
  /** When the caller may retry, in seconds (`Retry-After`). */
  readonly retryAfter?: number;
}

/** The largest request message that any protocol accepts, in bytes, compressed or not. A request has few short fields. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

/** The only field of a REST response with status 500, whatever the cause. */
const INTERNAL_ERROR = "An error occurred while retrieving revenue data";

/** The catalogue, by kind of error. */
export const serviceErrors = {
  invalidArgument: {
    code: Code.InvalidArgument,
    status: 400,
    error: "Bad Request",
    message: "the request is malformed",
  },
  unauthenticated: {
    code: Code.Unauthenticated,
    status: 401,
    error: "Unauthorized",
    message:
      "API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)",
  },
  /** The same whether the other provider exists. */
  permissionDenied: {
    code: Code.PermissionDenied,
    status: 403,
    error: "Forbidden",
    message:
      "this API key is for its own provider alone: leave out the header x-provider-id, or send that provider's id",
  },
  providerNotFound: {
    code: Code.NotFound,
    status: 404,
    error: "Not Found",
    message: "there is no provider with the id in the header x-provider-id",
  },
  notFound: {
    code: Code.Unimplemented,
    status: 404,
    error: "Not Found",
    message: "no resource at this path",
  },
  methodNotAllowed: {
    code: Code.Unimplemented,
    status: 405,
    error: "Method Not Allowed",
    message: "method not allowed",
  },
  /** REST only. Its figures are offered as JSON and as CSV. */
  notAcceptable: {
    code: Code.InvalidArgument,
    status: 406,
    error: "Not Acceptable",
    message: "no acceptable form of the response: application/json and text/csv are offered",
  },
  /** A REST request has no message, but it may have a body that is as large. */
  messageTooLarge: {
    code: Code.ResourceExhausted,
    status: 413,
    error: "Content Too Large",
    message: `the message is too large: at most ${MAX_MESSAGE_BYTES} bytes are allowed, compressed or not`,
  },
  /** An unknown compression, or a call without exactly one message. */
  unsupported: {
    code: Code.Unimplemented,
    status: 501,
    error: "Not Implemented",
    message: "unsupported compression, or not exactly one message",
  },
  /** Failed authentications; a valid key is never refused for them. */
  tooManyFailures: {
    code: Code.ResourceExhausted,
    status: 429,
    error: "Too Many Requests",
    message: "too many requests with an invalid API key from this address; send a valid key",
    retryAfter: 1,
  },
  rateLimited: {
    code: Code.ResourceExhausted,
    status: 429,
    error: "Too Many Requests",
    message: "too many requests of this caller; retry after the time in Retry-After",
    retryAfter: 1,
  },
  tooManyCalls: {
    code: Code.ResourceExhausted,
    status: 429,
    error: "Too Many Requests",
    message: "too many concurrent calls of this caller; retry after one second",
    retryAfter: 1,
  },
  overloaded: {
    code: Code.Unavailable,
    status: 503,
    error: "Service Unavailable",
    message: "the service is overloaded; retry after one second",
    retryAfter: 1,
  },
  /** The database cannot be reached, or closed the connection. Safe to retry. */
  databaseUnavailable: {
    code: Code.Unavailable,
    status: 500,
    error: INTERNAL_ERROR,
    message: "the revenue data is temporarily unavailable; retry the call",
  },
  deadlineExceeded: {
    code: Code.DeadlineExceeded,
    status: 500,
    error: INTERNAL_ERROR,
    message: "deadline exceeded",
  },
  /** The caller cancelled or disconnected, so the response is not read. */
  canceled: {
    code: Code.Canceled,
    status: 500,
    error: INTERNAL_ERROR,
    message: "canceled by the caller",
  },
  internal: {
    code: Code.Internal,
    status: 500,
    error: INTERNAL_ERROR,
    message: "an error occurred while retrieving revenue data",
  },
} as const satisfies Record<string, Entry>;

/** A key of the catalogue. */
export type ServiceErrorKind = keyof typeof serviceErrors;

interface ServiceErrorOptions {
  readonly cause?: unknown;
  readonly metadata?: Readonly<Record<string, string>>;
  /** The field of the request that is wrong, by its JSON name. */
  readonly field?: string;
}

/**
 * An error that a caller may see. Its message is safe to show; its `cause` is for the log and
 * never leaves the process.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ServiceErrorKind;
  /** Sent with the error: headers in HTTP, metadata in gRPC. Names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The field of the request that is wrong, by its JSON name. */
  readonly field: string | undefined;

  /**
   * @param message the catalogue's message by default
   * @param options.metadata in addition to the catalogue's `retry-after`, or in its place
   */
  constructor(kind: ServiceErrorKind, message?: string, options?: ServiceErrorOptions) {
    super(message ?? serviceErrors[kind].message, options);
    this.kind = kind;
    this.field = options?.field;
    const { retryAfter } = this.entry;
    this.metadata = {
      ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      ...options?.metadata,
    };
  }

  /** The catalogue entry of this error. */
  get entry(): Entry {
    return serviceErrors[this.kind];
  }

  /** Returns a thrown value itself if it is a `ServiceError`, otherwise as the cause of `internal`. */
  static from(thrown: unknown): ServiceError {
    return thrown instanceof ServiceError
      ? thrown
      : new ServiceError("internal", undefined, { cause: thrown });
  }
}
