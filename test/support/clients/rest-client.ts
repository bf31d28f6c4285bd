/** A REST client that uses `fetch`. */
import type { JsonValue } from "@bufbuild/protobuf";
import { paths, type RpcRequest } from "../request.ts";
import type { RpcClient } from "./client.ts";
import { parseNumbers } from "./exact-json.ts";

/** The REST client of an HTTP port. */
export function createRestClient(baseUrl: string): RpcClient {
  return {
    name: "REST",
    protocol: "rest",
    async call(request) {
      const response = await fetch(baseUrl + requestTarget(request), {
        headers: (request.headers ?? []).map(([name, value]): [string, string] => [name, value]),
        signal: request.signal ?? null,
      });
      const text = await response.text();
      const headers = Object.fromEntries(response.headers);
      return response.status === 200
        ? { response: parseExactly(text), headers }
        : { code: `${response.status}`, message: text, headers };
    },
    close() {},
  };
}

/** The path and the query of a call. */
export function requestTarget({ method, message = {} }: RpcRequest): string {
  const query = new URLSearchParams(message as Record<string, string>).toString();
  return paths[method] + (query === "" ? "" : `?${query}`);
}

/**
 * Parses REST's JSON. Numbers with a decimal point become `google.type.Decimal` in protobuf's
 * JSON, with the digits as they were written.
 */
export function parseExactly(text: string): JsonValue {
  return parseNumbers(text, (digits) =>
    digits.includes(".") ? { value: digits } : Number(digits),
  );
}
