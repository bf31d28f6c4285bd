/** A REST client that uses `fetch`. */
import { paths } from "../request.ts";
import type { RpcClient } from "./client.ts";
import { parseNumbers } from "./exact-json.ts";

/** The REST client of an HTTP port. Numbers with a decimal point are `google.type.Decimal`, with their digits. */
export function createRestClient(baseUrl: string): RpcClient {
  return {
    name: "REST",
    protocol: "rest",
    async call({ method, message = {}, headers: sent = [], signal = null }) {
      const query = new URLSearchParams(message as Record<string, string>).toString();
      const response = await fetch(`${baseUrl}${paths[method]}${query && `?${query}`}`, {
        headers: sent.map(([name, value]): [string, string] => [name, value]),
        signal,
      });
      const text = await response.text();
      const headers = Object.fromEntries(response.headers);
      if (response.status !== 200) return { code: `${response.status}`, message: text, headers };
      const number = (digits: string) =>
        digits.includes(".") ? { value: digits } : Number(digits);
      return { response: parseNumbers(text, number), headers };
    },
    close() {},
  };
}
