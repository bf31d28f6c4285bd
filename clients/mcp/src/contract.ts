/** The contract as tools: one for each operation of the OpenAPI document, which is made from the proto. */
import type { JsonSchemaType } from "@modelcontextprotocol/server";
import openapi from "../../../gen/openapi.json" with { type: "json" };

/** An RPC as a tool. */
export interface RevenueTool {
  /** The name of the RPC in REST's OpenAPI document: `listPayouts`. */
  readonly name: string;
  readonly title: string;
  /** What it returns, and what the fields of the response mean, as many as `MAX_DESCRIPTION` leaves room for. */
  readonly description: string;
  /** The parameters, without their patterns: the service says what is wrong better than a schema. */
  readonly inputSchema: JsonSchemaType;
  /** The path and query of a call. */
  target(args: Readonly<Record<string, unknown>>): string;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly description?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: string }>>;
  readonly required?: boolean;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly responses: {
    readonly 200: {
      readonly content: { readonly "application/json": { readonly schema: Schema } };
    };
  };
}

/** The longest description of a tool, in characters: some hosts refuse all tools if one has more. */
export const MAX_DESCRIPTION = 1_024;

/** The parts of an OpenAPI document that are used here. Its examples have numbers, and no tool reads them. */
export interface Document {
  readonly info: { readonly version: string; readonly description: string };
  readonly paths: Readonly<
    Record<string, { readonly get: Operation; readonly parameters?: readonly Parameter[] }>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const contract = openapi as unknown as Document;

/** The version of the contract, which is the service's. */
export const { version } = contract.info;

/** What holds for every number, for the model that reads them. */
export const instructions = contract.info.description
  .split(/^## /m)
  .filter((section) => section.startsWith("Numbers\n"))
  .join("");

/** A tool for each RPC of a contract: by default, of this one. */
export function createTools({ paths, components }: Document = contract): RevenueTool[] {
  return Object.entries(paths).map(([path, { get, parameters = [] }]) => {
    const inputs = parameters.filter((one) => one.in === "query" || one.in === "path");
    const { schema } = get.responses[200].content["application/json"];
    const fields = fieldsOf(schema, "", components.schemas);
    return {
      name: get.operationId,
      title: get.summary,
      description: describe(`${get.description.replace(/\n\n.*/s, "")}\n\nFields:`, fields),
      inputSchema: {
        type: "object",
        properties: Object.fromEntries(inputs.map((one) => [one.name, inputOf(one)])),
        required: inputs.filter(({ required }) => required).map(({ name }) => name),
        additionalProperties: false,
      } as JsonSchemaType,
      target: (args) => targetOf(path, args),
    };
  });
}

function inputOf({ description, schema: { pattern: _, ...schema }, examples = {} }: Parameter) {
  const values = Object.values(examples).map(({ value }) => value);
  return { ...schema, description, ...(values.length > 0 && { examples: values }) };
}

/** A text and lines, those of the outer fields first, as many as there is room for. */
function describe(text: string, fields: readonly string[]): string {
  const depth = (line: string) => line.split(":")[0]?.split(".").length ?? 0;
  return fields
    .toSorted((a, b) => depth(a) - depth(b))
    .map((line) => `\n${line}`)
    .reduce((all, line) => (all.length + line.length > MAX_DESCRIPTION ? all : all + line), text);
}

/** The fields of a response, each with the first sentence: `- servers[].earnings: Earnings from the server.` */
function fieldsOf(
  { items, $ref = items?.$ref ?? "" }: Schema,
  prefix: string,
  schemas: Document["components"]["schemas"],
): string[] {
  const { properties = {} } = schemas[$ref.replace(/.*\//, "")] ?? {};
  return Object.entries(properties).flatMap(([name, field]) => {
    const path = `${prefix}${name}${field.items === undefined ? "" : "[]"}`;
    const [meaning = ""] = /^.*?[.;:](?=\s|$)/s.exec(field.description ?? "") ?? [];
    return [`- ${path}: ${meaning.replace(/.$/, "")}`, ...fieldsOf(field, `${path}.`, schemas)];
  });
}

/** What is unknown or ill-typed goes along: the service refuses it, and names it. */
function targetOf(template: string, args: Readonly<Record<string, unknown>>): string {
  const rest: Record<string, unknown> = { ...args };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = textOf(rest[name] ?? "");
    delete rest[name];
    return encodeURIComponent(value);
  });
  const given = Object.entries(rest).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, textOf(value)]));
  return query.size === 0 ? path : `${path}?${query}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
