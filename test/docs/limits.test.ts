/** The bounds that the README names are those of the code. */
import { describe, expect, it } from "vitest";
import { CONNECT_TIMEOUT, knexConfig } from "../../src/db/pool.ts";
import { HTTP_LIMITS } from "../../src/gateway/http-server.ts";
import { ADMISSION_BOUNDS } from "../../src/rpc/admission.ts";
import { LONGEST_CALL } from "../../src/rpc/deadline.ts";
import { readme, rootFile } from "./readme.ts";

/** A whole number of the README's text; of the match, it is the group. */
function told(pattern: RegExp): number {
  const [, digits] = readme.match(pattern) ?? [];
  if (digits === undefined) throw new Error(`the README does not say ${pattern}`);
  return Number(digits.replaceAll(",", ""));
}

/** The value of a constant that its file keeps to itself: `64 * 1024`, `10_000`. */
function constant(file: string, name: string): number {
  const [, text] = rootFile(file).match(new RegExp(`^const ${name} = ([\\d_* ]+);$`, "m")) ?? [];
  if (text === undefined) throw new Error(`${file} has no ${name}`);
  return text
    .split("*")
    .reduce((product, factor) => product * Number(factor.replaceAll("_", "")), 1);
}

const url = { host: "127.0.0.1", database: "revenue" };

describe("in the paragraph on limits", () => {
  it("a call's time", () => expect(told(/A call: (\d+) s\./) * 1000).toBe(LONGEST_CALL));

  it("calls under way", () => {
    expect({
      total: told(/Calls under way: ([\d,]+), of/),
      perProvider: told(/of one provider ([\d,]+)\./),
    }).toEqual(ADMISSION_BOUNDS);
  });

  it("connections to the database", () => {
    expect(told(/Connections to the database: (\d+) per process/)).toBe(knexConfig(url).pool?.max);
  });

  it("headers", () => {
    expect(told(/Headers: (\d+) KiB/) * 1024).toBe(HTTP_LIMITS.maxHeaderSize);
  });

  it("messages", () => {
    const bytes = told(/Messages to Connect, gRPC-Web and gRPC: (\d+) KiB/) * 1024;
    expect(constant("src/gateway/connect/connect.ts", "READ_MAX_BYTES")).toBe(bytes);
    expect(constant("src/grpc/server.ts", "LARGEST_REQUEST")).toBe(bytes);
  });
});

describe("elsewhere", () => {
  it("the same calls under way in the table of errors", () => {
    expect(told(/the provider has ([\d,]+) calls under way/)).toBe(ADMISSION_BOUNDS.perProvider);
    expect(told(/the service has ([\d,]+) calls under way/)).toBe(ADMISSION_BOUNDS.total);
  });

  it("the same time of a call", () => {
    expect(told(/deadline \((\d+) s, or the client's own\)/) * 1000).toBe(LONGEST_CALL);
    expect(told(/A client's deadline is honoured, up to (\d+) s/) * 1000).toBe(LONGEST_CALL);
  });

  it("how long calls may take to finish at a stop", () => {
    expect(told(/calls under way have (\d+) s to finish/) * 1000).toBe(
      constant("src/main.ts", "GRACE"),
    );
  });

  it("how long a connection is waited for", () => {
    expect(told(/waiting for a connection takes (\d+) s at most/) * 1000).toBe(CONNECT_TIMEOUT);
  });
});
