/** The OpenAPI document of a service agrees with what its binders read and its writers write. */
import { create } from "@bufbuild/protobuf";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createDocument, type DocumentParts } from "../../../dev/openapi/document.ts";
import type { JsonObject } from "../../../dev/openapi/json.ts";
import { bindRoutes } from "../../../src/gateway/transcoding/routes.ts";
import { serviceOf } from "../gateway/transcoding/contract.ts";

const THINGS = "transcoding.supported.ThingService";
const none = { securitySchemes: {}, operation: {}, headers: {}, schemas: {}, parameters: {} };
const parts: DocumentParts = {
  ...{ ...none, examples: {}, servers: [], always: [], onSuccess: [], responses: [] },
  info: { title: "Things", version: "1" },
  requestHeaders: () => [],
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
ajv.addSchema({ $id: "document:", components });

test("what the writer writes is valid: every field is required, and no other is described", () => {
  const validate = ajv.compile({ $ref: "document:#/components/schemas/Thing" });
  const empty = { part: { name: "" }, at: { seconds: 0n } };
  const full = {
    ...{ ...empty, integer: -(2 ** 31), maybe: 0, amount: { value: "4500.00" } },
    ...{ texts: ["a"], numbers: [1], parts: [{ name: "a" }], amounts: [{ value: "-1" }] },
    times: [{ seconds: 1n, nanos: 5 }],
  };
  const names = components.schemas.Thing.required;
  expect(Object.keys(components.schemas.Thing.properties)).toEqual(names);
  for (const fields of [empty, full]) {
    const json = JSON.parse(getThing.write(create(getThing.method.output, fields as never)));
    expect(Object.keys(json)).toEqual(names);
    expect(validate(json), ajv.errorsText(validate.errors)).toBe(true);
  }
});

const numbers = fc.oneof(
  fc.bigInt({ min: -(2n ** 33n), max: 2n ** 33n }).map(String),
  fc.integer({ min: -3, max: 3 }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const WORDS = ["", "true", "1,5", "0x1", "+1"];
const texts = fc
  .oneof(numbers, fc.constantFrom(...WORDS), fc.string())
  .filter((text) => text.trim() === text);

/** Whether a function throws nothing. */
function isFine(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

const parameters: { name: string; schema: JsonObject & { type: string } }[] =
  paths["/v1/thing"].parameters;

test.each(parameters)(
  "what the binder reads is allowed, and nothing else: $name",
  ({ name, schema }) => {
    const validate = ajv.compile(schema);
    // As OpenAPI's style "form" has it.
    const isAllowed = (text: string) =>
      schema.type === "string"
        ? validate(text)
        : isFine(() => JSON.parse(text)) && validate(JSON.parse(text));
    fc.assert(
      fc.property(texts, (text) => {
        // "1e0" and "1.0" are integers in JSON Schema, and not in a URL.
        fc.pre(schema.type !== "integer" || !/[.eE]/.test(text));
        const query = new URLSearchParams({ [name]: text }).toString();
        expect(isFine(() => getThing.bind(query))).toBe(isAllowed(text));
      }),
      { seed: 1, numRuns: 300 },
    );
  },
);
