/** Requests on a Connect path that are no Connect or gRPC-Web call: refused as HTTP, in JSON. */
import type { IncomingMessage } from "node:http";
import { httpError, methodNotAllowed } from "../errors.ts";
import type { HttpResponse } from "../response.ts";

/** Connect's unary and gRPC-Web's content types: https://connectrpc.com/docs/protocol */
const CONTENT_TYPE =
  /^application\/(?:json(?:; ?charset=utf-?8)?|proto|grpc-web(?:\+(?:json(?:; ?charset=utf-?8)?|proto))?)$/i;

/** Connect's codecs, which a GET names in its query. */
const ENCODINGS: readonly (string | null)[] = ["json", "proto"];

/** The refusal of a request that is no call; undefined for a call. @param allowed its path's methods */
export function refusalOf(
  { method = "", url = "", headers }: IncomingMessage,
  allowed: readonly string[],
): HttpResponse | undefined {
  // Connect-ES makes a URL of the two, and leaves a request without an answer if it cannot.
  const target = headers.host === undefined ? null : URL.parse(url, `http://${headers.host}`);
  if (target === null) return httpError(400, "the Host header names no host");
  if (!allowed.includes(method)) return methodNotAllowed(allowed);
  const isCall =
    method === "GET"
      ? ENCODINGS.includes(target.searchParams.get("encoding"))
      : CONTENT_TYPE.test(headers["content-type"] ?? "");
  return isCall ? undefined : httpError(415);
}
