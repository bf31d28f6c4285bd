/** Checks of requests on Connect paths that Connect-ES does not make, or not well. */
import type { IncomingMessage } from "node:http";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { HandlerContext } from "@connectrpc/connect";
import { ServiceError } from "../../errors.ts";
import { quote } from "../../quote.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import type { HttpResponse } from "../response.ts";
import { malformedMessage } from "./error.ts";

/** Content types of unary Connect and of gRPC-Web: https://connectrpc.com/docs/protocol */
const CONTENT_TYPE =
  /^application\/(?:json(?:; ?charset=utf-?8)?|proto|grpc-web(?:\+(?:json(?:; ?charset=utf-?8)?|proto))?)$/i;

/** Connect's codecs, which a GET names in its query. */
const ENCODINGS: readonly (string | null)[] = ["json", "proto"];

/** The methods of every path. No RPC has side effects: `bindRoutes` refuses it. */
export const METHODS: readonly string[] = ["GET", "POST"];

/** The response to a request that is no Connect or gRPC-Web call; undefined if it is one. */
export function checkRequest({
  method = "",
  url = "",
  headers,
}: IncomingMessage): HttpResponse | undefined {
  // Connect-ES makes a URL of the two. If it cannot, it sends no response.
  const target = headers.host === undefined ? null : URL.parse(url, `http://${headers.host}`);
  if (target === null) return httpError(400, "invalid Host header");
  if (!METHODS.includes(method)) return methodNotAllowed(METHODS);
  const isGet = method === "GET";
  if (isGet && !ENCODINGS.includes(target.searchParams.get("encoding"))) {
    return httpError(415, WITHOUT_ENCODING);
  }
  // A GET needs none.
  const { "content-type": type = isGet ? "application/json" : "" } = headers;
  return CONTENT_TYPE.test(type)
    ? undefined
    : httpError(415, `unsupported content type ${quote(type)}; ${EXPECTED_TYPES}`);
}

const WITHOUT_ENCODING =
  "a Connect GET has its message in the query: expected encoding=json&message=%7B%7D, or encoding=proto";
const EXPECTED_TYPES =
  "expected application/json or application/proto (Connect), or application/grpc-web, also with +proto or +json (gRPC-Web, whose text mode is not served)";

/** Where a call's request names its compression. */
function compressionOf({ protocolName, requestMethod, requestHeader, url }: HandlerContext) {
  if (protocolName === "grpc-web") return requestHeader.get("grpc-encoding");
  if (requestMethod === "POST") return requestHeader.get("content-encoding");
  return new URL(url).searchParams.get("compression");
}

/**
 * What a request may be compressed with. Connect-ES would take everything that a response may be compressed
 * with. But no request gains by it, and what decodes the bytes of a client is open to attack: one is enough.
 */
const COMPRESSIONS: readonly (string | null)[] = [null, "identity", "gzip"];

/** Checks the compression of a request, before its message is read. Throws `ServiceError("unsupported")`. */
export function checkCompression(context: HandlerContext): void {
  const name = compressionOf(context);
  if (COMPRESSIONS.includes(name)) return;
  const problem = `unknown compression ${quote(name ?? "")} of a request: expected gzip`;
  throw new ServiceError("unsupported", problem);
}

/**
 * Checks the base64 of a GET's message, for which Connect-ES would throw a plain Error, and so
 * respond with an internal one. Throws `ServiceError("invalidArgument")`.
 */
export function checkMessageParameter(url: string): void {
  const { searchParams } = new URL(url);
  if (searchParams.get("base64") !== "1") return;
  try {
    base64Decode(searchParams.get("message") ?? "");
  } catch {
    throw malformedMessage();
  }
}
