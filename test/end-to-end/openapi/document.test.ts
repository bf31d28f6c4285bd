/**
 * No response of the service contradicts its OpenAPI document: what the document allows is answered,
 * and what it forbids is refused, each with a documented response. That the pattern of a date allows
 * what is read, and nothing else: test/unit/openapi/instant.test.ts.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawHttp } from "../../support/clients/raw-http.ts";
import { type RequestHeaders, withKey } from "../../support/request.ts";
import { createFixture, type Fixture } from "../../support/service/fixture.ts";
import { smallLedger } from "../../support/small-ledger.ts";
import { contradictions, readDocument } from "./validator.ts";

const document = readDocument(readFileSync("gen/openapi.json", "utf8"));

let fixture: Fixture;
beforeAll(async () => {
  // The rate limit is never reached: it is there for its headers.
  fixture = await createFixture(smallLedger, { RATE_LIMIT: "100000" });
});
afterAll(() => fixture?.dispose());

/** What is special about a request. Without a key of its own it has a valid one. */
interface Case {
  readonly method?: string;
  /** Follows the path. */
  readonly suffix?: string;
  readonly query?: string;
  readonly key?: (key: string) => RequestHeaders;
  readonly headers?: RequestHeaders;
  readonly body?: string;
}

/** The cases that the document allows or forbids, by the status of their responses. */
const CASES: Readonly<Record<number, readonly Case[]>> = {
  200: [
    {},
    { method: "HEAD" },
    { key: (key) => [["authorization", `Bearer ${key}`]] },
    { headers: [["accept", "text/html, text/csv;q=0.1"]] },
    { headers: [["accept-encoding", "gzip, br;q=0.5"]] },
    { headers: [["accept-encoding", "identity;q=0, zstd"]] },
    { headers: [["if-none-match", '"another", W/"tag"']] },
    { headers: [["x-request-id", "my-request.1"]] },
    { headers: [["x-request-id", "not an id"]] },
    // HTTP's, but not of this API.
    {
      headers: [
        ["range", "bytes=0-9"],
        ["if-match", '"another"'],
        ["if-modified-since", "Sat, 01 Jan 2050 00:00:00 GMT"],
      ],
    },
    { headers: [["origin", "https://other.example"]] },
    { headers: [["content-type", "@@"]], body: "{" },
  ],
  304: [{ headers: [["if-none-match", "*"]] }],
  400: [
    { query: "unknown=1" },
    { query: "startDate=March" },
    { query: "endDate=2026-11-01&endDate=2026-11-01" },
    { query: "startDate=%00", method: "HEAD" },
  ],
  401: [
    { key: () => [] },
    { key: (key) => [["x-api-key", `${key.slice(0, -1)}_`]] },
    { key: (key) => [["authorization", `Basic ${key}`]] },
    { key: (key) => [...withKey(key), ["authorization", `Bearer ${key}`]] },
  ],
  404: [
    ...["/", "/x", "%00"].map((suffix) => ({ suffix })),
    { suffix: "/x", method: "POST", headers: [["content-type", "application/json"]], body: "{" },
  ],
  405: [
    ...["PUT", "OPTIONS", "TRACE", "QUERY", "PROPFIND"].map((method) => ({ method })),
    { method: "POST", headers: [["content-type", "application/json"]], body: "{" },
  ],
  406: [{ headers: [["accept", "text/html"]] }],
  413: [{ headers: [["content-length", "70000"]] }],
};

const requests = Object.entries(CASES).flatMap(([status, cases]) =>
  cases.map((one): [name: string, one: Case, status: number] => [
    JSON.stringify({ ...one, ...(one.key && { key: one.key("KEY") }) }).slice(0, 80),
    one,
    Number(status),
  ]),
);

/** Sends a request to a path. Resolves to its status and what contradicts the document. */
async function ask(path: string, { suffix = "", query = "", key = withKey, ...more }: Case) {
  const { method = "GET", headers = [], body } = more;
  const request = { method, path: path + suffix };
  const response = await rawHttp(fixture.service.http, {
    ...request,
    target: path + suffix + (query === "" ? "" : `?${query}`),
    headers: [...key(fixture.key), ...headers],
    ...(body !== undefined && { body }),
  });
  return { status: response.status, found: contradictions(document, request, response) };
}

/** The paths. They answer in different ways, and refuse in one, which is asked of the first. */
const paths = Object.keys(document.paths);

describe.each(paths)("%s", (path) => {
  it.each(requests.filter(([, , status]) => status <= 400 || path === paths[0]))(
    "%s is answered as documented",
    async (_, one, status) => {
      expect(await ask(path, one)).toEqual({ status, found: [] });
    },
  );

  it("the examples of its parameters are answered as documented", async () => {
    const all = document.paths[path]?.parameters?.filter((one) => one.in === "query") ?? [];
    const valuesOf = ({ examples = {} }: (typeof all)[number]) =>
      Object.values(examples).map(({ value }) => value);
    // Each with the first of the others: an end alone is a period only as long as it is recent.
    const firsts = Object.fromEntries(
      all.flatMap((one) => valuesOf(one).map((value) => [one.name, value])).reverse(),
    );
    for (const one of all) {
      for (const value of valuesOf(one)) {
        const query = new URLSearchParams({ ...firsts, [one.name]: value }).toString();
        expect(await ask(path, { query }), query).toEqual({ status: 200, found: [] });
      }
    }
  });
});
