/** The requests of the page as code. The key is a variable: what is copied is pasted and shared. */
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";

/** Parameters of a request. */
export type Parameters = Readonly<Record<string, string>>;

/** The path of a method in the REST API. */
export function pathOf(method: DescMethod): string {
  return String(getOption(method, http).pattern.value);
}

/** A curl command for a path of the REST API. */
export function curlCommand(origin: string, path: string, parameters: Parameters): string {
  const query = new URLSearchParams(parameters).toString();
  const url = `${origin}${path}${query && `?${query}`}`;
  return `curl -H "x-api-key: $REVENUE_API_KEY" '${url}'`;
}

/** A program that calls a method of the TypeScript client. */
export function typescriptCall(origin: string, method: string, parameters: Parameters): string {
  const fields = Object.entries(parameters).map(
    ([name, value]) => `${name}: ${JSON.stringify(value)}`,
  );
  const request = fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  return [
    'import { createRevenueClient } from "revenue-service-client";',
    "",
    "const client = createRevenueClient({",
    `  baseUrl: ${JSON.stringify(origin)},`,
    '  apiKey: process.env.REVENUE_API_KEY ?? "",',
    "});",
    `const response = await client.${method}(${request});`,
    "",
  ].join("\n");
}
