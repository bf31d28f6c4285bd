/**
 * The catalogue of failures: every way in which a call can fail, with its gRPC
 * code, its HTTP status and the text a caller reads. It knows nothing of the
 * rooms that raise failures or of the doors that show them.
 */
import { Code } from "@connectrpc/connect";

interface Entry {
  /** The gRPC and Connect code. */
  readonly code: Code;
  /** The HTTP status of the REST answer. */
  readonly status: number;
  /** The REST answer's `error` field. */
  readonly error: string;
  /** What a caller reads, unless the failure says it more precisely. */
  readonly message: string;
  /** After how many seconds a caller may try again (`Retry-After`). */
  readonly retryAfter?: number;
}

/** The REST answer's only field where something went wrong inside (spec, section 7). */
const INSIDE = "An error occurred while retrieving revenue data";

export const serviceErrors = {
  invalidArgument: {
    code: Code.InvalidArgument,
    status: 400,
    error: "Bad Request",
    message: "the request cannot be understood",
  },
  unauthenticated: {
    code: Code.Unauthenticated,
    status: 401,
    error: "Unauthorized",
    message:
      "API key authentication is required: send a valid key in exactly one of the headers X-API-Key or Authorization (Bearer)",
  },
  notFound: {
    code: Code.Unimplemented,
    status: 404,
    error: "Not Found",
    message: "there is nothing at this path",
  },
  methodNotAllowed: {
    code: Code.Unimplemented,
    status: 405,
    error: "Method Not Allowed",
    message: "this path does not answer this method",
  },
  tooManyCalls: {
    code: Code.ResourceExhausted,
    status: 429,
    error: "Too Many Requests",
    message: "too many calls of this provider are under way; try again in a second",
    retryAfter: 1,
  },
  overloaded: {
    code: Code.Unavailable,
    status: 503,
    error: "Service Unavailable",
    message: "the service has more calls under way than it takes on; try again in a second",
    retryAfter: 1,
  },
  /** The database cannot be reached, or cut the connection. Safe to retry. */
  databaseUnavailable: {
    code: Code.Unavailable,
    status: 500,
    error: INSIDE,
    message: "the revenue data cannot be reached at the moment; try again",
  },
  deadlineExceeded: {
    code: Code.DeadlineExceeded,
    status: 500,
    error: INSIDE,
    message: "the call took longer than its deadline",
  },
  /** The caller went away; nobody reads the answer. */
  canceled: {
    code: Code.Canceled,
    status: 500,
    error: INSIDE,
    message: "the call was canceled by its caller",
  },
  internal: {
    code: Code.Internal,
    status: 500,
    error: INSIDE,
    message: "an error occurred while retrieving revenue data",
  },
} as const satisfies Record<string, Entry>;

export type ServiceErrorKind = keyof typeof serviceErrors;

/**
 * A failure that a caller may see: its kind, and a message that is safe to show.
 * The `cause` is for the log alone and never leaves the process.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly kind: ServiceErrorKind;

  constructor(kind: ServiceErrorKind, message?: string, options?: { cause?: unknown }) {
    super(message ?? serviceErrors[kind].message, options);
    this.kind = kind;
  }

  /** The catalogue's entry of this failure. */
  get entry(): Entry {
    return serviceErrors[this.kind];
  }

  /** Any thrown value as a failure: itself, or `internal` with the value as its cause. */
  static from(thrown: unknown): ServiceError {
    return thrown instanceof ServiceError
      ? thrown
      : new ServiceError("internal", undefined, { cause: thrown });
  }
}
