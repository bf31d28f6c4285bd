/** What went wrong with a call, in the words of the page. */
import { Code, ConnectError, retryAfter } from "../../../clients/typescript/src/index.ts";

/** The kinds of problems: each has a state of the page. */
export type ProblemKind = "key" | "request" | "busy" | "unavailable" | "offline" | "fault";

/** A problem. */
export interface Problem {
  readonly kind: ProblemKind;
  readonly title: string;
  readonly advice: string;
  /** The id of the request, for the operator; undefined if the service has not answered. */
  readonly requestId: string | undefined;
}

/** The problem behind a thrown value. */
export function problemOf(thrown: unknown): Problem {
  const error = ConnectError.from(thrown);
  const requestId = error.metadata.get("x-request-id") ?? undefined;
  const kind = kindOf(error.code, requestId !== undefined);
  return { kind, ...describe(kind, error), requestId };
}

function kindOf(code: Code, answered: boolean): ProblemKind {
  switch (code) {
    case Code.Unauthenticated:
      return "key";
    case Code.InvalidArgument:
      return "request";
    case Code.ResourceExhausted:
      return "busy";
    case Code.Unavailable:
      return answered ? "unavailable" : "offline";
    case Code.DeadlineExceeded:
      return answered ? "unavailable" : "offline";
    default:
      return "fault";
  }
}

function describe(kind: ProblemKind, error: ConnectError): Pick<Problem, "title" | "advice"> {
  switch (kind) {
    case "key":
      return {
        title: "This API key is not valid",
        advice: "It is mistyped, expired or revoked. Enter another one.",
      };
    case "request":
      return { title: "This period cannot be shown", advice: `${error.rawMessage}.` };
    case "busy": {
      const seconds = retryAfter(error) ?? 1;
      return {
        title: "Too many requests",
        advice: `Other programs use this key at the moment. Try again in ${seconds} s.`,
      };
    }
    case "unavailable":
      return {
        title: "The figures are temporarily unavailable",
        advice: "The service cannot read its database. Nothing is lost. Try again in a moment.",
      };
    case "offline":
      return {
        title: "The service cannot be reached",
        advice: "Check your network connection, then try again.",
      };
    case "fault":
      return {
        title: "Something went wrong",
        advice: "Try again. If it happens again, report it with the id below.",
      };
  }
}
