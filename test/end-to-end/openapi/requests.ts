/** Random requests from an OpenAPI document: what it allows, and what it forbids. */
import fc from "fast-check";
import type { RequestHeaders } from "../../support/request.ts";
import type { Document, Parameter } from "./validator.ts";

/** A request, and the statuses of the document's rules that it breaks. */
export interface RandomRequest {
  readonly method: string;
  readonly path: string;
  readonly target: string;
  readonly headers: RequestHeaders;
  readonly body?: string;
  /** Empty for a request that the document allows. */
  readonly broken: readonly number[];
}

/** A part of a request. */
interface Part {
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: RequestHeaders;
  readonly body?: string;
  readonly broken?: number;
}

const OTHER_METHODS = ["post", "put", "patch", "delete", "options", "trace", "query", "propfind"];

/** Requests for the paths of a document, most of them with a valid key. */
export function randomRequests({ paths }: Document, key: string): fc.Arbitrary<RandomRequest> {
  const part = (...parts: readonly Part[]) => fc.constantFrom(...parts);
  const credentials = fc.oneof(
    { weight: 8, arbitrary: part({ headers: [["X-API-Key", key]] }) },
    { weight: 4, arbitrary: part({ headers: [["Authorization", `Bearer ${key}`]] }) },
    {
      weight: 3,
      arbitrary: part(
        { broken: 401 },
        { headers: [["x-api-key", `${key.slice(0, -1)}_`]], broken: 401 },
        { headers: [["authorization", `Basic ${key}`]], broken: 401 },
        {
          headers: [
            ["x-api-key", key],
            ["authorization", `Bearer ${key}`],
          ],
          broken: 401,
        },
      ),
    },
  );
  const extras = part(
    ...Array<Part>(12).fill({}),
    { headers: [["accept", "application/json"]] },
    { headers: [["accept", "text/csv"]] },
    { headers: [["accept", "text/html, text/csv;q=0.1"]] },
    { headers: [["accept", "*/*;q=0.5, application/json;q=0"]] },
    { headers: [["accept", "text/html"]], broken: 406 },
    { headers: [["accept", "garbage"]], broken: 406 },
    { headers: [["accept", "application/json;q=0, text/csv;q=0"]], broken: 406 },
    { headers: [["accept-encoding", "gzip, br;q=0.5"]] },
    { headers: [["accept-encoding", "identity;q=0, zstd"]] },
    // HTTP's, but not of this API.
    { headers: [["range", "bytes=0-9"]] },
    { headers: [["if-match", '"another"']] },
    { headers: [["if-modified-since", "Sat, 01 Jan 2050 00:00:00 GMT"]] },
    { headers: [["origin", "https://other.example"]] },
    { headers: [["content-type", "@@"]], body: "{" },
    { headers: [["if-none-match", '"another", W/"tag"']] },
    { headers: [["if-none-match", "*"]] },
    { headers: [["x-request-id", "my-request.1"]] },
    { headers: [["x-request-id", "not an id"]] },
    { headers: [["content-length", "70000"]], broken: 413 },
    { headers: [["expect", "a-miracle"]], broken: 417 },
    { headers: [["x-large", "x".repeat(20_000)]], broken: 431 },
    { query: [["unknown", "1"]], broken: 400 },
    { query: [["startdate", "2026-11-01"]], broken: 400 },
  );

  return fc.constantFrom(...Object.entries(paths)).chain(([path, item]) => {
    const parameters = item.parameters.filter((parameter) => parameter.in === "query");
    const known = ["get", "head"].filter((method) => method in item);
    const method = fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: fc.constantFrom(...OTHER_METHODS) },
    );
    const suffix = fc.constantFrom(...Array<string>(20).fill(""), "/", "/x", "%00");
    return (
      fc
        .tuple(method, suffix, fc.tuple(credentials, extras, ...parameters.map(values)))
        // Node has not parsed the method of a request that it refuses for its headers.
        .filter(
          ([name, , parts]) => name !== "head" || parts.every(({ broken = 0 }) => broken < 414),
        )
        .map(([name, more, parts]): RandomRequest => {
          const pairs = parts.flatMap(({ query = [] }) => query.map(([...pair]) => pair));
          const body = parts.find((one) => one.body !== undefined)?.body;
          const query = new URLSearchParams(pairs).toString();
          return {
            method: name.toUpperCase(),
            path: path + more,
            target: path + more + (query === "" ? "" : `?${query}`),
            headers: parts.flatMap(({ headers = [] }) => headers),
            ...(body !== undefined && { body }),
            broken: [
              ...(more === "" ? [] : [404]),
              ...(more === "" && !known.includes(name) ? [405] : []),
              ...parts.flatMap(({ broken }) => broken ?? []),
            ],
          };
        })
    );
  });
}

/** A query parameter: left out, as in an example, as its pattern allows, or not so. */
function values({ name, schema, examples = {} }: Parameter): fc.Arbitrary<Part> {
  const allowed = new RegExp(schema.pattern ?? "", "u");
  const shown = Object.values(examples).map(({ value }) => value);
  const once = (value: string): Part => ({
    query: [[name, value]],
    ...(!allowed.test(value) && { broken: 400 }),
  });
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    { weight: 6, arbitrary: fc.constantFrom(...shown).map(once) },
    { weight: 3, arbitrary: fc.stringMatching(allowed).map(once) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme" }).map(once) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...shown).map(
        (value): Part => ({
          query: [
            [name, value],
            [name, value],
          ],
          broken: 400,
        }),
      ),
    },
  );
}
