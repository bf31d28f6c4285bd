/** What the page makes of answers: what went wrong, the pages of a list, digits in the reference, and the curl commands of exports. */
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { BadRequestSchema, Code, ConnectError } from "../../../clients/typescript/src/index.ts";
import { RevenueService } from "../../../gen/revenue/v1/revenue_pb.ts";
import { problemOf } from "../../../web/src/call/problem.ts";
import { readPages } from "../../../web/src/call/use-pages.ts";
import { indent } from "../../../web/src/docs/exact-answers.ts";
import { curlCommand, targetOf } from "../../../web/src/export/curl-command.ts";

const bad = (field: string) => [
  { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations: [{ field }] }) },
];
const ID = { "x-request-id": "r-7" };

it.each<[Code, HeadersInit, string, string, RegExp]>([
  [Code.Unauthenticated, ID, "", "key", /^It is not mistyped/],
  [Code.InvalidArgument, ID, "time_zone", "zone", /^The service does not know the time zone/],
  [Code.ResourceExhausted, { "retry-after": "7" }, "", "busy", / in 7 s\.$/],
  [Code.ResourceExhausted, {}, "", "busy", / in 1 s\.$/],
  [Code.Internal, ID, "", "fault", /report it with the id below\.$/],
  [Code.Unimplemented, {}, "", "fault", /something between here and the service answers/],
])(
  "code %d with %j about '%s' is a problem of the kind %s",
  (code, headers, field, kind, advice) => {
    const error = new ConnectError("the text", code, headers, field ? bad(field) : undefined);
    const problem = problemOf(error);
    expect(problem).toMatchObject({ kind, advice: expect.stringMatching(advice) });
    expect(problem.requestId).toBe(headers === ID ? "r-7" : undefined);
  },
);

it("pages are read until there are enough rows, or no more", async () => {
  const list = async (token: string) => ({
    rows: [token],
    next: token === "xx" ? "" : `${token}x`,
  });
  const none = { rows: [], next: "" };
  const first = await readPages(list, (rows) => rows.length > 1, none);
  expect(first).toEqual({ rows: ["", "x"], next: "xx" });
  expect(await readPages(list, () => true, first)).toEqual({ rows: ["", "x", "xx"], next: "" });
  expect((await readPages(list, () => false, none)).rows).toHaveLength(3);
});

it("an answer in the reference keeps its digits, and what is no JSON stays as it is", () => {
  const text = '{\n  "a": 2.50,\n  "b": 90071992547409931234.56\n}';
  expect(indent(text.replaceAll(/\s/g, ""))).toBe(text);
  expect(indent("a,b\r\n1,2")).toBe("a,b\r\n1,2");
});

it("a curl command has the path and the period of the call, and the key as a variable", () => {
  const parameters = { startDate: "2026-11-01", timeZone: "Asia/Kolkata" };
  const target = targetOf(RevenueService.method.getServerBreakdown, parameters);
  expect(curlCommand("https://x/y", target)).toBe(
    `curl -H "x-api-key: $REVENUE_API_KEY" 'https://x/y/api/provider/revenue/servers?startDate=2026-11-01&timeZone=Asia%2FKolkata'`,
  );
});
