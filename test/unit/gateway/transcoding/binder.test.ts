import { create, equals } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { compileBinder } from "../../../../src/gateway/transcoding/binder.ts";
import { parsePathTemplate } from "../../../../src/gateway/transcoding/path-template.ts";
import { RequestError } from "../../../../src/gateway/transcoding/request-error.ts";
import { messageOf } from "./contract.ts";

const desc = messageOf("transcoding.supported.GetThingRequest");
const bind = compileBinder(desc, parsePathTemplate("/things/{thing_id}"));
const variables = { thing_id: "t1" };

test.each<[string, Record<string, unknown>]>([
  ["", {}],
  ["text=", { text: "" }],
  ["text=a+b%2Bc", { text: "a b+c" }],
  ["flag=true", { flag: true }],
  ["integer=-2147483648", { integer: -2147483648 }],
  ["integer=2147483647", { integer: 2147483647 }],
  ["count=4294967295", { count: 4294967295 }],
  ["big=-9223372036854775808", { big: -9223372036854775808n }],
  ["big=9223372036854775807", { big: 9223372036854775807n }],
  ["huge=18446744073709551615", { huge: 18446744073709551615n }],
  ["bigText=-9223372036854775808", { bigText: "-9223372036854775808" }],
  ["ratio=-1.5e3", { ratio: -1500 }],
  ["rough=0.1", { rough: Math.fround(0.1) }],
  ["size=SIZE_LARGE", { size: 2 }],
  ["limit=0", { limit: 0 }],
  ["otherName=x", { renamed: "x" }],
  ["text=a&flag=false&integer=3", { text: "a", flag: false, integer: 3 }],
])("the query %j is bound to the fields", (query, fields) => {
  const expected = create(desc, { thingId: "t1", ...fields });
  expect(equals(desc, bind(variables, query), expected)).toBe(true);
});

const INT32 = "an integer from -2147483648 to 2147483647";
const UINT32 = "an integer from 0 to 4294967295";
const INT64 = "an integer from -9223372036854775808 to 9223372036854775807";

test.each([
  ["flag=1", 'query parameter "flag": expected true or false, got "1"'],
  ["integer=", `query parameter "integer": expected ${INT32}, got ""`],
  ["integer=01", `query parameter "integer": expected ${INT32}, got "01"`],
  ["integer=2147483648", `query parameter "integer": expected ${INT32}, got "2147483648"`],
  ["integer=-2147483649", `query parameter "integer": expected ${INT32}, got "-2147483649"`],
  ["count=4294967296", `query parameter "count": expected ${UINT32}, got "4294967296"`],
  [`big=${"9".repeat(9000)}`, `query parameter "big": expected ${INT64}, got "${"9".repeat(48)}…"`],
  ["ratio=1e999", 'query parameter "ratio": expected a decimal number, got "1e999"'],
  ["rough=1e39", 'query parameter "rough": expected a decimal number, got "1e39"'],
  [
    "size=small",
    'query parameter "size": expected one of SIZE_UNSPECIFIED, SIZE_SMALL, SIZE_LARGE, got "small"',
  ],
  ["text=a&text=a", 'query parameter "text" is repeated; it must be given once'],
])("the query %j does not fit", (query, message) => {
  expect(() => bind(variables, query)).toThrow(new RequestError(message));
});

test.each(["thing_id", "Text", "renamed", "", "__proto__"])(
  "the parameter %j is unknown, and the error lists the known ones",
  (name) => {
    expect(() => bind(variables, `${name}=1`)).toThrow(
      new RequestError(
        `unknown query parameter "${name}"; allowed parameters: text, flag, integer, count, big, huge, ratio, rough, size, limit, bigText, otherName`,
      ),
    );
  },
);

test.each([
  [
    "Request",
    "/{name}",
    { name: "a" },
    "x=1",
    'unknown query parameter "x"; allowed parameters: none',
  ],
  [
    "NumberRequest",
    "/{number}",
    { number: "x" },
    "",
    `path variable "number": expected ${INT32}, got "x"`,
  ],
])("the error of a path and its variables: %s", (name, template, variables, query, message) => {
  const of = messageOf(`transcoding.unsupported.${name}`);
  const bind = compileBinder(of, parsePathTemplate(template));
  expect(() => bind(variables, query)).toThrow(new RequestError(message));
});

test("thousands of parameters fail at the first wrong one", () => {
  expect(() => bind(variables, "a=1&".repeat(4000))).toThrow(/^unknown query parameter "a"/);
});
