/** How the MCP server reads a contract with what this one does not have yet. */
import { expect, it } from "vitest";
import { createTools, type Document } from "../../../clients/mcp/src/contract.ts";

const parameter = (name: string, where: string, more = {}) => ({
  name,
  in: where,
  description: `The ${name}.`,
  schema: { type: "string", pattern: "^x" },
  ...more,
});

const contract: Document = {
  info: { version: "1.0.0", description: "" },
  paths: {
    "/servers/{server_id}/charges": {
      parameters: [
        parameter("server_id", "path", { required: true }),
        parameter("from", "query", { examples: { day: { value: "2026-11-01" } } }),
        parameter("if-none-match", "header"),
      ],
      get: {
        operationId: "listCharges",
        summary: "Lists charges",
        description: "Lists charges of a server.",
        responses: {
          200: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/List" } } },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      List: {
        properties: {
          charges: {
            type: "array",
            items: { $ref: "#/components/schemas/Charge" },
            description: "Charges.",
          },
          total: { type: "number" },
        },
      },
      Charge: { properties: { amount: { type: "number", description: "USD." } } },
    },
  },
};

const [tool] = createTools(contract);

it("a parameter of the path is required, one of a header is none, and no pattern is shown", () => {
  expect(tool).toMatchObject({ name: "listCharges", title: "Lists charges" });
  expect(tool?.inputSchema).toEqual({
    type: "object",
    properties: {
      server_id: { type: "string", description: "The server_id." },
      from: { type: "string", description: "The from.", examples: ["2026-11-01"] },
    },
    required: ["server_id"],
    additionalProperties: false,
  });
});

it("fields are described as deep as they are", () => {
  expect(tool?.description).toBe(
    "Lists charges of a server.\n\nFields of the JSON:\n- charges[]: Charges.\n- charges[].amount: USD.\n- total: ",
  );
});

it.each([
  [
    { server_id: "a/b", from: "2026-11-01T00:00:00+01:00" },
    "/servers/a%2Fb/charges?from=2026-11-01T00%3A00%3A00%2B01%3A00",
  ],
  [{ server_id: "7" }, "/servers/7/charges"],
  [{ server_id: 7, from: null, other: { a: 1 } }, "/servers/7/charges?other=%7B%22a%22%3A1%7D"],
  [{}, "/servers//charges"],
])("%j is asked for as %s", (args, target) => {
  expect(tool?.target(args)).toBe(target);
});
