/** Checks of requests on Connect paths that Connect-ES does not make, or answers without a body. */
import type { IncomingMessage } from "node:http";
import { quote } from "../../quote.ts";
import { httpError, methodNotAllowed } from "../errors.ts";
import type { HttpResponse } from "../response.ts";

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
