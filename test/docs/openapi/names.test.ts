/** The names in the OpenAPI document do not collide in clients that are generated from it. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

interface Operation {
  readonly operationId: string;
}

const { paths, components } = JSON.parse(readFileSync("gen/openapi.json", "utf8"));
const schemas = Object.keys(components.schemas);
const operations = Object.values<Record<"get" | "head", Operation>>(paths)
  .flatMap(({ get, head }) => [get, head])
  .map(({ operationId }) => operationId);

/** What generators add to an operation's name for types of their own. */
const ADDED = ["Response", "Responses", "Request", "Params", "Data", "Error", "Errors", "Result"];

it("no schema has the name that a generator gives to a type of an operation", () => {
  const taken = operations.flatMap((id) => ADDED.map((word) => id + word));
  const collisions = taken.filter((name) =>
    schemas.some((schema) => schema.toLowerCase() === name.toLowerCase()),
  );
  expect(collisions).toEqual([]);
});

it("no schema has the name of a type that languages have", () => {
  const builtIn = ["Error", "Object", "String", "Number", "Date", "Exception", "Response"];
  expect(schemas.filter((name) => builtIn.includes(name))).toEqual([]);
});

it("names are unique: of operations, and of schemas and responses together", () => {
  const types = [...schemas, ...Object.keys(components.responses)];
  for (const names of [operations, types]) expect(names).toEqual([...new Set(names)]);
});

it("each object of a response has a schema with a name, so that generators invent none", () => {
  const inline: string[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (typeof value !== "object" || value === null) return;
    const isNamed = path.length === 2 && path[0] === "schemas";
    if ("properties" in value && !isNamed) inline.push(path.join("/"));
    for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name]);
  };
  walk(components, []);
  walk(paths, ["paths"]);
  expect(inline).toEqual([]);
});
