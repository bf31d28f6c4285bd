/** The OpenAPI document of a service agrees with what its binders read and its writers write. */
import { create } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDocument, type DocumentParts } from "../../../dev/openapi/document.ts";
import type { JsonObject } from "../../../dev/openapi/json.ts";
import { bindRoutes } from "../../../src/gateway/transcoding/routes.ts";
import { serviceOf } from "../gateway/transcoding/contract.ts";

const THINGS = "transcoding.supported.ThingService";
const parts: DocumentParts = {
  info: { title: "Things", version: "1" },
  servers: [],
  securitySchemes: {},
  operation: {},
  headers: {},
  always: [],
  onSuccess: [],
  responses: [],
  schemas: {},
  parameters: {},
  requestHeaders: () => [],
  examples: {},
};

const [getThing] = bindRoutes([serviceOf(THINGS)]);
if (getThing === undefined) throw new Error("the service has no RPC");
/** The document as a client parses it. */
const { components, paths } = JSON.parse(
  JSON.stringify(createDocument([serviceOf(THINGS)], parts)),
);

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);
ajv.addVocabulary(["components"]);
ajv.addFormat("float", { type: "number", validate: Number.isFinite });
ajv.addSchema({ $id: "document:", components });

test("what the writer writes is valid: every field is required, and no other is described", () => {
  const validate = ajv.compile({ $ref: "document:#/components/schemas/Thing" });
  const empty = { part: { name: "" }, at: { seconds: 0n }, nothing: {} };
  const full = {
    ...{ ...empty, i32: -(2 ** 31), u64: 2n ** 64n - 1n, wide: Number.NaN, narrow: 0.5, maybe: 0 },
    ...{
      texts: ["a"],
      numbers: [1n],
      sizes: [2],
      parts: [{ name: "a" }],
      raws: [Uint8Array.of(1)],
    },
    ...{
      amount: { value: "4500.00" },
      amounts: [{ value: "-1" }],
      times: [{ seconds: 1n, nanos: 5 }],
    },
  };
  const names = components.schemas.Thing.required;
  expect(Object.keys(components.schemas.Thing.properties)).toEqual(names);
  for (const fields of [empty, full]) {
    const json = JSON.parse(getThing.write(create(getThing.method.output, fields as never)));
    expect(Object.keys(json)).toEqual(names);
    expect(validate(json), ajv.errorsText(validate.errors)).toBe(true);
  }
});

describe("what the binder reads is allowed, and nothing else:", () => {
  const parameters: { name: string; in: string; schema: JsonObject & { type: string } }[] =
    paths["/v1/things/{thing_id}"].parameters;
  const numbers = fc.oneof(
    fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
    fc.integer({ min: -3, max: 3 }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  );
  const texts = fc.oneof(
    numbers,
    fc.constantFrom("", "true", "false", "True", "SIZE_SMALL", "SIZE_GONE", "1,5", "0x1", "+1"),
    fc.string(),
  );

  /** The value of a text under a schema, as OpenAPI's style "form" has it. */
  const parse = (text: string, type: string): unknown => {
    if (type === "string") return text;
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };
  const isRead = (name: string, text: string): boolean => {
    try {
      getThing.bind({ thing_id: "t" }, new URLSearchParams({ [name]: text }).toString());
      return true;
    } catch {
      return false;
    }
  };
  /** A JSON number is binary here: it cannot decide at the ends of the range of 64 bits. */
  const isDecidable = (text: string) => !(Math.abs(Number(text)) >= 2 ** 53);

  test.each(parameters.filter((one) => one.in === "query"))("$name", ({ name, schema }) => {
    const validate = ajv.compile(schema);
    fc.assert(
      fc.property(texts.filter(isDecidable), (text) => {
        // "1e0" and "1.0" are integers in JSON Schema, and not in a URL.
        fc.pre(schema.type !== "integer" || !/[.eE]/.test(text));
        fc.pre(text.trim() === text);
        expect(isRead(name, text)).toBe(validate(parse(text, schema.type)));
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});
