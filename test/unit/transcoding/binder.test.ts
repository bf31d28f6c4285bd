import { create, equals } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { compileBinder } from "../../../src/gateway/transcoding/binder.ts";
import { parsePathTemplate } from "../../../src/gateway/transcoding/path-template.ts";
import { RequestError } from "../../../src/gateway/transcoding/request-error.ts";
import { messageOf } from "./contract.ts";

const desc = messageOf("gateway.shapes.GetThingRequest");
const bind = compileBinder(desc, parsePathTemplate("/things/{thing_id}"));
const variables = { thing_id: "t1" };

test.each<[string, Record<string, unknown>]>([
  ["", {}],
  ["text=", { text: "" }],
  ["text=a+b%2Bc", { text: "a b+c" }],
  ["flag=true", { flag: true }],
  ["flag=false", { flag: false }],
  ["whole=-2147483648", { whole: -2147483648 }],
  ["whole=2147483647", { whole: 2147483647 }],
  ["whole=0", { whole: 0 }],
  ["count=4294967295", { count: 4294967295 }],
  ["big=-9223372036854775808", { big: -9223372036854775808n }],
  ["big=9223372036854775807", { big: 9223372036854775807n }],
  ["huge=18446744073709551615", { huge: 18446744073709551615n }],
  ["bigText=-9223372036854775808", { bigText: "-9223372036854775808" }],
  ["ratio=-1.5e3", { ratio: -1500 }],
  ["rough=0.1", { rough: Math.fround(0.1) }],
  ["size=SIZE_LARGE", { size: 2 }],
  ["size=SIZE_UNSPECIFIED", { size: 0 }],
  ["limit=0", { limit: 0 }],
  ["otherName=x", { renamed: "x" }],
  ["text=a&flag=true&whole=3", { text: "a", flag: true, whole: 3 }],
])("the query %j fills the fields", (query, fields) => {
  const expected = create(desc, { thingId: "t1", ...fields });
  expect(equals(desc, bind(variables, query), expected)).toBe(true);
});

const INT32 = "a whole number from -2147483648 to 2147483647";
const UINT32 = "a whole number from 0 to 4294967295";
const INT64 = "a whole number from -9223372036854775808 to 9223372036854775807";

test.each([
  ["flag=1", 'query parameter "flag" is "1"; it takes true or false'],
  ["flag=", 'query parameter "flag" is ""; it takes true or false'],
  ["whole=", `query parameter "whole" is ""; it takes ${INT32}`],
  ["whole=x", `query parameter "whole" is "x"; it takes ${INT32}`],
  ["whole=01", `query parameter "whole" is "01"; it takes ${INT32}`],
  ["whole=-0", `query parameter "whole" is "-0"; it takes ${INT32}`],
  ["whole=%2B1", `query parameter "whole" is "+1"; it takes ${INT32}`],
  ["whole=1.0", `query parameter "whole" is "1.0"; it takes ${INT32}`],
  ["whole=0x10", `query parameter "whole" is "0x10"; it takes ${INT32}`],
  ["whole=2147483648", `query parameter "whole" is "2147483648"; it takes ${INT32}`],
  ["whole=-2147483649", `query parameter "whole" is "-2147483649"; it takes ${INT32}`],
  ["count=-1", `query parameter "count" is "-1"; it takes ${UINT32}`],
  ["count=4294967296", `query parameter "count" is "4294967296"; it takes ${UINT32}`],
  ["big=9223372036854775808", `query parameter "big" is "9223372036854775808"; it takes ${INT64}`],
  [`big=${"9".repeat(9000)}`, `query parameter "big" is "${"9".repeat(48)}…"; it takes ${INT64}`],
  ["ratio=NaN", 'query parameter "ratio" is "NaN"; it takes a decimal number'],
  ["ratio=1e999", 'query parameter "ratio" is "1e999"; it takes a decimal number'],
  ["rough=1e39", 'query parameter "rough" is "1e39"; it takes a decimal number'],
  [
    "size=small",
    'query parameter "size" is "small"; it takes one of SIZE_UNSPECIFIED, SIZE_SMALL, SIZE_LARGE',
  ],
  ["text=a&text=a", 'query parameter "text" comes twice; send it once'],
  ["text&text=", 'query parameter "text" comes twice; send it once'],
  ["text=%zz", 'query parameter "text": "%zz" is not percent-encoded UTF-8 (RFC 3986)'],
])("the query %j is an invalid argument", (query, message) => {
  expect(() => bind(variables, query)).toThrow(new RequestError(message));
});

test.each(["thingId", "thing_id", "Text", "other_name", "renamed", "", "__proto__", "constructor"])(
  "the parameter %j is unknown, and the known ones are told",
  (name) => {
    expect(() => bind(variables, `${name}=1`)).toThrow(
      new RequestError(
        `unknown query parameter "${name}"; this path takes text, flag, whole, count, big, huge, ratio, rough, size, limit, bigText and otherName`,
      ),
    );
  },
);

test.each([
  ["gateway.refusals.Request", "this path takes name"],
  ["google.api.CustomHttpPattern", "this path takes kind and path"],
])("%s: the message lists what the path takes", (typeName, takes) => {
  expect(() => compileBinder(messageOf(typeName), [])({}, "x=1")).toThrow(
    new RequestError(`unknown query parameter "x"; ${takes}`),
  );
});

test("a path without parameters says so", () => {
  const none = compileBinder(messageOf("gateway.refusals.Request"), parsePathTemplate("/{name}"));
  expect(() => none({ name: "a" }, "x=1")).toThrow(
    new RequestError('unknown query parameter "x"; this path takes none'),
  );
});

test("a path variable of another type is an invalid argument", () => {
  const number = compileBinder(
    messageOf("gateway.refusals.NumberRequest"),
    parsePathTemplate("/{number}"),
  );
  expect(() => number({ number: "x" }, "")).toThrow(
    new RequestError(`path variable "number" is "x"; it takes ${INT32}`),
  );
});

test("thousands of parameters end at the first that is wrong", () => {
  expect(() => bind(variables, "a=1&".repeat(4000))).toThrow(/^unknown query parameter "a"/);
});
