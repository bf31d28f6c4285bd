/** The README's table of errors and the catalogue in `src/errors.ts` say the same. */
import { status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../src/errors.ts";
import { errorResponse, methodNotAllowed } from "../../src/gateway/errors.ts";
import { section, tableWith } from "./readme.ts";

/** A line of the table, as far as a program can tell. */
interface Line {
  readonly status: number;
  readonly code: string;
  /** The body's fields; of `message` only that it is there. */
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: readonly string[];
}

const rows = tableWith("REST", "gRPC and Connect", "when", "body");
const documented = rows.map(([rest = "", code = "", , body = ""], index): Line => {
  const above = rows.slice(0, index).findLast((row) => row[3] !== "the same");
  const text = body === "the same" ? (above?.[3] ?? "") : body;
  return {
    status: Number(rest),
    code: code.replaceAll("`", ""),
    fields: JSON.parse(text.match(/`(\{.*?\})`/)?.[1] ?? "{}"),
    headers: ["Retry-After", "WWW-Authenticate", "Allow"].filter((name) =>
      text.includes(`\`${name}`),
    ),
  };
});

/** What a failure looks like from outside. */
function lineOf(kind: ServiceErrorKind): Line {
  const failure = new ServiceError(kind);
  const answer = kind === "methodNotAllowed" ? methodNotAllowed(["GET"]) : errorResponse(failure);
  const fields: Record<string, string> = JSON.parse(answer.body);
  return {
    status: answer.status,
    code: status[failure.entry.code] ?? "",
    fields: "message" in fields ? { ...fields, message: "…" } : fields,
    headers: ["Retry-After", "WWW-Authenticate", "Allow"].filter(
      (name) => name.toLowerCase() in answer.headers,
    ),
  };
}

/** Nobody reads the answer to a call whose caller has gone. */
const UNSEEN: readonly string[] = ["canceled"];

it("each failure that a caller can see is in the table, and nothing else is", () => {
  const kinds = Object.keys(serviceErrors) as ServiceErrorKind[];
  const seen = kinds.filter((kind) => !UNSEEN.includes(kind)).map(lineOf);
  expect(new Set(documented)).toEqual(new Set(seen));
  expect(documented).toHaveLength(seen.length);
});

describe("what the table says in words", () => {
  it("WWW-Authenticate is Bearer", () => {
    const { headers } = errorResponse(new ServiceError("unauthenticated"));
    expect(`with \`WWW-Authenticate: ${headers["www-authenticate"]}\``).toBe(
      rows
        .find(([rest]) => rest === "401")?.[3]
        ?.split(", ")
        .at(-1),
    );
  });

  it("a caller who is told to come back is told that nothing was done", () => {
    for (const row of rows.filter((cells) => cells[3]?.includes("Retry-After"))) {
      expect(row[3]).toMatch(/with `Retry-After`: nothing was done$/);
    }
    expect(section("Errors").match(/Retry-After/g)).toHaveLength(2);
  });
});
