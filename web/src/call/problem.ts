/** What went wrong with a call, in the words of the page. */
import {
  BadRequestSchema,
  Code,
  ConnectError,
  retryAfter,
} from "../../../clients/typescript/src/index.ts";

/** The kinds of problems: each has a state of the page. */
export type ProblemKind = "key" | "request" | "zone" | "busy" | "unavailable" | "offline" | "fault";

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
  const kind = kindOf(error, requestId !== undefined);
  return { kind, ...describe(kind, error, requestId), requestId };
}

function kindOf(error: ConnectError, answered: boolean): ProblemKind {
  const { code } = error;
  if (code === Code.Unauthenticated) return "key";
  if (code === Code.InvalidArgument) return isAboutZone(error) ? "zone" : "request";
  if (code === Code.ResourceExhausted) return "busy";
  if (code !== Code.Unavailable && code !== Code.DeadlineExceeded) return "fault";
  return answered ? "unavailable" : "offline";
}

/** Whether a request is invalid because of its time zone. */
function isAboutZone(error: ConnectError): boolean {
  const violations = error.findDetails(BadRequestSchema).flatMap((bad) => bad.fieldViolations);
  return violations.some(({ field }) => field === "time_zone");
}

/** What came without an id is not of the service: a proxy, or the login page of a network. */
const report = (requestId: string | undefined) =>
  requestId === undefined
    ? "something between here and the service answers in its place"
    : "report it with the id below";

function describe(
  kind: ProblemKind,
  error: ConnectError,
  requestId: string | undefined,
): Pick<Problem, "title" | "advice"> {
  const texts: Readonly<Record<ProblemKind, readonly [title: string, advice: string]>> = {
    key: [
      "This API key is not valid",
      "It is not mistyped: it has expired, was revoked, or belongs to another service. Enter another one.",
    ],
    request: ["This period cannot be shown", `${error.rawMessage}.`],
    zone: ["All dates are in UTC", "The service does not know the time zone of your browser."],
    busy: [
      "Too many requests",
      `Other programs use this key at the moment. Try again in ${retryAfter(error) ?? 1} s.`,
    ],
    unavailable: [
      "The figures are temporarily unavailable",
      "The service cannot read its database. Nothing is lost. Try again in a moment.",
    ],
    offline: ["The service cannot be reached", "Check your network connection, then try again."],
    fault: ["Something went wrong", `Try again. If it happens again, ${report(requestId)}.`],
  };
  const [title, advice] = texts[kind];
  return { title, advice };
}
