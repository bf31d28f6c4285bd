/** The shape of a JSON text: its fields, and the kind of value of each. */
import { parseNumbers } from "../support/clients/exact-json.ts";

/** A number; its kind is that of its text: 5.00 is a decimal. */
class WrittenNumber {
  readonly kind: "decimal" | "integer";
  constructor(source: string) {
    this.kind = source.includes(".") ? "decimal" : "integer";
  }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Each field with its kind, once: `servers[].instances[].totalRevenue: decimal`. Kinds are
 * decimal, integer, string, and strings that are an instant or a UUID.
 */
export function shapeOf(json: string): string[] {
  const value: unknown = parseNumbers(json, (digits) => new WrittenNumber(digits));
  return [...new Set(fieldsOf(value, ""))].sort();
}

function fieldsOf(value: unknown, path: string): string[] {
  if (value instanceof WrittenNumber) return [`${path}: ${value.kind}`];
  if (typeof value === "string") return [`${path}: ${kindOf(value)}`];
  if (Array.isArray(value)) {
    return [`${path}: array`, ...value.flatMap((item) => fieldsOf(item, `${path}[]`))];
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([name, item]) =>
      fieldsOf(item, path === "" ? name : `${path}.${name}`),
    );
  }
  return [`${path}: ${value === null ? "null" : typeof value}`];
}

function kindOf(text: string): string {
  if (INSTANT.test(text)) return "instant";
  return UUID.test(text) ? "UUID" : "string";
}
