/**
 * The mutants of a file: each is its text with one small fault in it, made by the syntax tree. Texts, types,
 * imports and regular expressions have none.
 */
import { type ESTree, parseSync } from "vite";

/** One fault in one file. */
export interface Mutant {
  /** From the root of the repository: `src/rpc/call.ts`. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  /** What the fault is: "boundary". */
  readonly operator: string;
  /** The line without its indentation, as it is and with the fault; of several lines, the first. */
  readonly before: string;
  readonly after: string;
  /** The text of the file with the fault. */
  readonly text: string;
}

/** Another text for a part of a file, from the character `start` up to `end`. */
interface Edit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

type Node = ESTree.Node;

/** Other operators in place of these. `a ?? b` becomes `a && b`: b where there is an a, and nothing where there is none. */
const BINARY: Readonly<Record<string, readonly [operator: string, other: string]>> = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["comparison", "!=="],
  "!==": ["comparison", "==="],
  "==": ["comparison", "!="],
  "!=": ["comparison", "=="],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "%": ["arithmetic", "*"],
  "**": ["arithmetic", "*"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
  "*=": ["arithmetic", "/="],
  "/=": ["arithmetic", "*="],
  "&&": ["logic", "||"],
  "||": ["logic", "&&"],
  "??": ["logic", "&&"],
  "??=": ["logic", "="],
};

/** All mutants of a file, in the order of its text. Throws if it cannot be parsed. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  const edits = editsBelow(program, text);
  return edits.toSorted((a, b) => a.start - b.start).map((edit) => applied(path, text, edit));
}

function editsBelow(node: Node, text: string): Edit[] {
  // A type is erased; what an assertion is about is not.
  if (node.type.startsWith("TS") && !("expression" in node)) return [];
  if (node.type === "ImportDeclaration") return [];
  return [...editsOf(node, text), ...childrenOf(node).flatMap((child) => editsBelow(child, text))];
}

function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node =>
    typeof value === "object" && value !== null && "type" in value;
  return Object.entries(node)
    .filter(([name]) => !/^type|^returnType$|^implements$|^superType/.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

/** The faults of one node, without those of its children. */
function editsOf(node: Node, text: string): Edit[] {
  const replace = (operator: string, { start, end }: Node, by: string): Edit => {
    return { operator, start, end, text: by };
  };
  switch (node.type) {
    case "IfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
    case "ConditionalExpression":
      return [replace("condition", node.test, `!(${text.slice(node.test.start, node.test.end)})`)];
    case "BinaryExpression":
    case "LogicalExpression":
    case "AssignmentExpression":
      return otherOperator(node, text);
    case "UpdateExpression": {
      const other = node.operator === "++" ? "--" : "++";
      return [
        replace("arithmetic", node, text.slice(node.start, node.end).replace(node.operator, other)),
      ];
    }
    case "Literal":
      return literal(node).map((by) => replace("constant", node, by));
    case "ReturnStatement":
      if (node.argument === null) return [replace("statement", node, ";")];
      return value(node.argument).map((by) => replace("value", node.argument as Node, by));
    case "ArrowFunctionExpression":
      return node.expression ? value(node.body).map((by) => replace("value", node.body, by)) : [];
    case "ExpressionStatement":
    case "ThrowStatement":
    case "BreakStatement":
    case "ContinueStatement":
      return isSuperCall(node) ? [] : [replace("statement", node, ";")];
    default:
      return [];
  }
}

function otherOperator(
  node: Node & { readonly operator: string; readonly left: Node; readonly right: Node },
  text: string,
): Edit[] {
  const found = BINARY[node.operator];
  if (found === undefined) return [];
  const [operator, other] = found;
  // Texts are joined by + as well.
  if (operator === "arithmetic" && [node.left, node.right].some(isText)) return [];
  const start = text.indexOf(node.operator, node.left.end);
  const edit = { operator, start, end: start + node.operator.length, text: other };
  if (operator !== "logic") return [edit];
  // One may not stand beside the other without parentheses.
  const whole = text.slice(node.start, start) + other + text.slice(edit.end, node.end);
  return [
    { operator, start: node.start, end: node.end, text: other === "=" ? whole : `(${whole})` },
  ];
}

const isText = ({ type, ...node }: { type: string; value?: unknown }) =>
  type === "TemplateLiteral" || typeof node.value === "string";

function literal(node: ESTree.Node & { value?: unknown; raw?: string | null }): string[] {
  const { value } = node;
  if (typeof value === "boolean") return [String(!value)];
  if (typeof value === "bigint") return [`${value + 1n}n`];
  return typeof value === "number" ? [String(value + 1)] : [];
}

/** What is returned in place of a value: nothing, and of a boolean the other one. */
function value(node: Node): string[] {
  const isBoolean = node.type === "Literal" && typeof node.value === "boolean";
  const isNothing = node.type === "Identifier" && node.name === "undefined";
  return isBoolean || isNothing ? [] : ["undefined"];
}

function isSuperCall(node: Node): boolean {
  return (
    node.type === "ExpressionStatement" &&
    node.expression.type === "CallExpression" &&
    node.expression.callee.type === "Super"
  );
}

function applied(path: string, text: string, edit: Edit): Mutant {
  const { operator, start, end } = edit;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const lineEnd = text.indexOf("\n", end);
  const [first = "", ...others] = text.slice(lineStart, lineEnd).split("\n");
  const changed = text.slice(lineStart, start) + edit.text + text.slice(end, lineEnd);
  const short = (line: string) => line.trim().replaceAll(/\s+/g, " ");
  return {
    path,
    line: text.slice(0, start).split("\n").length,
    operator,
    before: short(first) + (others.length > 0 ? " …" : ""),
    after: short(changed),
    text: text.slice(0, start) + edit.text + text.slice(end),
  };
}
