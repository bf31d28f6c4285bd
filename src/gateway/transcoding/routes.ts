/**
 * Routes: a service's `google.api.http` annotations, bound once at start.
 *
 * What the gateway cannot serve as annotated stops the start, with the RPC's name and the
 * reason: a route that half works is found out by a client, one that is refused by its author.
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
import { compileWriter, type Writer } from "./json-writer.ts";
import { parsePathTemplate, type Segment } from "./path-template.ts";

/** One RPC as REST. */
export interface Route<I extends DescMessage = DescMessage, O extends DescMessage = DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  /** The path template, as annotated. */
  readonly template: string;
  readonly segments: readonly Segment[];
  readonly bind: Binder<I>;
  readonly write: Writer<O>;
}

/**
 * The routes of all RPCs of a service. Throws an Error that names the RPC and what of it
 * cannot be served.
 */
export function bindRoutes(service: DescService): readonly Route[] {
  const byShape = new Map<string, Route>();
  for (const method of service.methods) {
    const route = naming(method, () => bindRoute(method));
    const shape = shapeOf(route.segments);
    const other = byShape.get(shape);
    if (other !== undefined) {
      naming(method, () => {
        throw new Error(`its path ${route.template} is also that of ${other.method.name}`);
      });
    }
    byShape.set(shape, route);
  }
  return [...byShape.values()];
}

function bindRoute(method: DescMethod): Route {
  if (!isUnary(method)) throw new Error("streaming is not served");
  if (method.idempotency !== MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS) {
    throw new Error("served is what has idempotency_level = NO_SIDE_EFFECTS");
  }
  const template = annotatedPath(method);
  const segments = inTemplate(template, () => parsePathTemplate(template));
  return {
    method,
    template,
    segments,
    bind: inTemplate(template, () => compileBinder(method.input, segments)),
    write: compileWriter(method.output),
  };
}

/** Whether an RPC has one request and one response. */
export function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** The path of the method's GET annotation, which holds nothing else. */
function annotatedPath(method: DescMethod): string {
  const { pattern, body, responseBody, additionalBindings } = getOption(method, http);
  if (pattern.case === undefined) throw new Error("it has no google.api.http annotation");
  if (pattern.case !== "get") throw new Error(`"${pattern.case}" is not served, only "get"`);
  if (body !== "") throw new Error('"body" is not served');
  if (responseBody !== "") throw new Error('"response_body" is not served');
  if (additionalBindings.length > 0) throw new Error('"additional_bindings" are not served');
  return pattern.value;
}

/** What tells two paths apart: the variables' names do not. */
function shapeOf(segments: readonly Segment[]): string {
  return segments.map((segment) => ("literal" in segment ? `/${segment.literal}` : "/{}")).join("");
}

function naming<T>(method: DescMethod, bind: () => T): T {
  return saying(`cannot serve ${method.parent.typeName}.${method.name} as REST`, bind);
}

function inTemplate<T>(template: string, bind: () => T): T {
  return saying(`path template "${template}"`, bind);
}

function saying<T>(what: string, bind: () => T): T {
  try {
    return bind();
  } catch (cause) {
    throw new Error(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
