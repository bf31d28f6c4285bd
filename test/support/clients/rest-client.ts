/** The REST door, with `fetch`. */
import type { JsonValue } from "@bufbuild/protobuf";
import { paths, type RpcRequest } from "../request.ts";
import type { Head, RpcClient } from "./client.ts";

export function createRestClient(base: string): RpcClient {
  return {
    name: "REST",
    protocol: "rest",
    async call(question) {
      const response = await fetch(base + targetOf(question), {
        headers: (question.headers ?? []).map(([name, value]): [string, string] => [name, value]),
        signal: question.signal ?? null,
      });
      const text = await response.text();
      const head: Head = Object.fromEntries(response.headers);
      return response.status === 200
        ? { answer: exactly(text), head }
        : { code: `${response.status}`, message: text, head };
    },
    close() {},
  };
}

/** A question's path and query. */
export function targetOf({ method, message = {} }: RpcRequest): string {
  const query = new URLSearchParams(message).toString();
  return paths[method] + (query === "" ? "" : `?${query}`);
}

/** JSON with its decimals as protobuf's `google.type.Decimal`: the digits as they were written. */
export function exactly(text: string): JsonValue {
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source?.includes(".") ? { value: context.source } : value,
  );
}
