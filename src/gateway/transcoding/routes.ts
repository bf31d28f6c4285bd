/**
 * Routes: the `google.api.http` annotations of services, bound once at start.
 *
 * An annotation that is not supported is an error at start, which its author sees, and not a route
 * that works in part, which clients would find out.
 */
import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  getOption,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.ts";
import { type Binder, compileBinder } from "./binder.ts";
import { compileCsvWriter } from "./csv-writer.ts";
import { compileWriter, type Writer } from "./json-writer.ts";

/** An RPC as a REST route. */
export interface Route<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  /** The annotated path. */
  readonly path: string;
  readonly bind: Binder<I>;
  readonly write: Writer<O>;
  /** Undefined if the RPC has no CSV form. */
  readonly writeCsv: Writer<O> | undefined;
}

/**
 * The routes of all RPCs of services. Throws an Error that names the RPC and the reason.
 *
 * @param csvRows the field with the rows of CSV, by RPC, where a response has several lists
 */
export function bindRoutes(
  services: readonly DescService[],
  csvRows: Readonly<Record<string, string>> = {},
): readonly Route[] {
  const byPath = new Map<string, Route>();
  for (const method of services.flatMap(({ methods }) => methods)) {
    const route = withMethod(method, () => bindRoute(method, csvRows[method.name]));
    const other = byPath.get(route.path);
    if (other !== undefined) {
      withMethod(method, () => {
        throw new Error(`its path ${route.path} is already the path of ${other.method.name}`);
      });
    }
    byPath.set(route.path, route);
  }
  return [...byPath.values()];
}

function bindRoute(method: DescMethod, csvRows: string | undefined): Route {
  if (method.methodKind !== "unary") throw new Error("streaming is not supported");
  if (method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
    throw new Error("idempotency_level must be NO_SIDE_EFFECTS");
  }
  return {
    method: method as DescMethodUnary,
    path: annotatedPath(method),
    bind: compileBinder(method.input),
    write: compileWriter(method.output),
    writeCsv: compileCsvWriter(method.output, csvRows),
  };
}

/** Segments of unreserved characters (RFC 3986), none of which a client would resolve: "." or "..". */
const LITERAL = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/;

/** The path of a method's annotation, which must be a GET without any option or variable. */
function annotatedPath(method: DescMethod): string {
  const { pattern, body, responseBody, additionalBindings } = getOption(method, http);
  if (pattern.case === undefined) throw new Error("missing google.api.http annotation");
  if (pattern.case !== "get") throw new Error(`"${pattern.case}" is not supported, only "get"`);
  if (body !== "") throw new Error('"body" is not supported');
  if (responseBody !== "") throw new Error('"response_body" is not supported');
  if (additionalBindings.length > 0) throw new Error('"additional_bindings" is not supported');
  if (!LITERAL.test(pattern.value)) {
    throw new Error(
      `the path "${pattern.value}" is not supported, only segments of letters, digits and -._~`,
    );
  }
  return pattern.value;
}

/** Names the method in the message of an error. */
function withMethod<T>(method: DescMethod, bind: () => T): T {
  try {
    return bind();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const name = `${method.parent.typeName}.${method.name}`;
    throw new Error(`cannot serve ${name} over REST: ${reason}`, { cause });
  }
}
