import { create, equals } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { compileBinder } from "../../../../src/gateway/transcoding/binder.ts";
import { RequestError } from "../../../../src/gateway/transcoding/request-error.ts";
import { messageOf } from "./contract.ts";

const desc = messageOf("transcoding.supported.GetThingRequest");
const bind = compileBinder(desc);

test.each<[string, Record<string, unknown>]>([
  ["", {}],
  ["text=", { text: "" }],
  ["text=a+b%2Bc", { text: "a b+c" }],
  ["integer=0", { integer: 0 }],
  ["integer=-2147483648", { integer: -2147483648 }],
  ["integer=2147483647", { integer: 2147483647 }],
  ["otherName=x", { renamed: "x" }],
  ["text=a&integer=3", { text: "a", integer: 3 }],
])("the query %j is bound to the fields", (query, fields) => {
  const expected = create(desc, fields);
  expect(equals(desc, bind(query), expected)).toBe(true);
});

const INT32 = "an integer from -2147483648 to 2147483647";

test.each([
  ["integer=", `query parameter "integer": expected ${INT32}, got ""`],
  ["integer=01", `query parameter "integer": expected ${INT32}, got "01"`],
  ["integer=2147483648", `query parameter "integer": expected ${INT32}, got "2147483648"`],
  ["integer=-2147483649", `query parameter "integer": expected ${INT32}, got "-2147483649"`],
  ["integer=1e3", `query parameter "integer": expected ${INT32}, got "1e3"`],
  [
    `integer=${"9".repeat(9000)}`,
    `query parameter "integer": expected ${INT32}, got "${"9".repeat(48)}…"`,
  ],
  ["text=a&text=a", 'query parameter "text" is repeated; it must be given once'],
])("the query %j does not fit", (query, message) => {
  expect(() => bind(query)).toThrow(new RequestError(message));
});

test.each(["Text", "renamed", "", "__proto__"])(
  "the parameter %j is unknown, and the error lists the known ones",
  (name) => {
    expect(() => bind(`${name}=1`)).toThrow(
      new RequestError(
        `unknown query parameter "${name}"; allowed parameters: text, integer, otherName`,
      ),
    );
  },
);

test("thousands of parameters fail at the first wrong one", () => {
  expect(() => bind("a=1&".repeat(4000))).toThrow(/^unknown query parameter "a"/);
});
