/** The table of errors in docs/api.md and the catalogue in `src/errors.ts` agree. */
import { status } from "@grpc/grpc-js";
import { describe, expect, it } from "vitest";
import { ServiceError, type ServiceErrorKind, serviceErrors } from "../../src/errors.ts";
import { errorResponse, methodNotAllowed } from "../../src/gateway/errors.ts";
import { section, tableWith } from "./markdown.ts";

/** A row of the table, as far as a program can read it. */
interface Row {
  readonly status: number;
  readonly code: string;
  /** The fields of the body; the text of `message` is left out. */
  readonly fields: Readonly<Record<string, string>>;
  readonly headers: readonly string[];
}

const HEADERS = ["Retry-After", "WWW-Authenticate", "Allow"];

const rows = tableWith("REST", "gRPC and Connect", "when", "body");
const documented = rows.map(([rest = "", code = "", , body = ""], index): Row => {
  const above = rows.slice(0, index).findLast((row) => row[3] !== "the same");
  const text = body === "the same" ? (above?.[3] ?? "") : body;
  return {
    status: Number(rest),
    code: code.replaceAll("`", ""),
    fields: JSON.parse(text.match(/`(\{.*?\})`/)?.[1] ?? "{}"),
    headers: HEADERS.filter((name) => text.includes(`\`${name}`)),
  };
});

/** The row of an error, from its response. */
function rowOf(kind: ServiceErrorKind): Row {
  const error = new ServiceError(kind);
  const response = kind === "methodNotAllowed" ? methodNotAllowed(["GET"]) : errorResponse(error);
  const fields: Record<string, string> = JSON.parse(response.body);
  return {
    status: response.status,
    code: status[error.entry.code] ?? "",
    fields: "message" in fields ? { ...fields, message: "…" } : fields,
    headers: HEADERS.filter((name) => name.toLowerCase() in response.headers),
  };
}

/** Errors that no caller sees: the caller has disconnected. */
const UNSEEN: readonly string[] = ["canceled"];

it("the table has every error that a caller can see, and no other", () => {
  const kinds = Object.keys(serviceErrors) as ServiceErrorKind[];
  const seen = kinds.filter((kind) => !UNSEEN.includes(kind)).map(rowOf);
  expect(new Set(documented)).toEqual(new Set(seen));
  expect(documented).toHaveLength(seen.length);
});

describe("the table", () => {
  it("names the scheme of WWW-Authenticate", () => {
    const { headers } = errorResponse(new ServiceError("unauthenticated"));
    expect(rows.find(([rest]) => rest === "401")?.[3]).toMatch(
      new RegExp(`, with \`WWW-Authenticate: ${headers["www-authenticate"]}\`$`),
    );
  });

  it("states that no work was done for each error with Retry-After", () => {
    for (const row of rows.filter((cells) => cells[3]?.includes("Retry-After"))) {
      expect(row[3]).toMatch(/with `Retry-After`: no work was done$/);
    }
    const kinds = Object.values(serviceErrors).filter((entry) => "retryAfter" in entry);
    expect(section("docs/api.md", "Errors").match(/Retry-After/g)).toHaveLength(kinds.length);
  });
});
