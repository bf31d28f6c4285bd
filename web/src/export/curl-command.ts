/** A request of the page as a command. The key is a variable: what is copied is pasted and shared. */
import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.ts";

/** Parameters of a request. */
export type Parameters = Readonly<Record<string, string>>;

/** The path and the query of a request in the REST API. */
export function targetOf(method: DescMethod, parameters: Parameters): string {
  const query = new URLSearchParams(parameters).toString();
  return `${getOption(method, http).pattern.value}${query && `?${query}`}`;
}

/** A curl command for a target of the REST API. */
export function curlCommand(origin: string, target: string): string {
  return `curl -H "x-api-key: $REVENUE_API_KEY" '${origin}${target}'`;
}
