/**
 * Metadata of responses. Its values are different in each call (`x-request-id`, `data-as-of`), so
 * they are sent as literals that are never indexed: in HPACK's dynamic table they would displace
 * what all calls have in common, at a higher cost than that of the rest of the headers.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7541#section-6.2.3
 */
import { type OutgoingHttpHeaders, sensitiveHeaders } from "node:http2";
import { Metadata } from "@grpc/grpc-js";

/** Metadata of a response, from the value of each key. */
export class ResponseMetadata extends Metadata {
  readonly #values: Readonly<Record<string, string>>;

  constructor(values: Readonly<Record<string, string>>) {
    super();
    this.#values = values;
    for (const [key, value] of Object.entries(values)) this.set(key, value);
  }

  /** grpc-js sends a clone of the metadata of a status. */
  override clone(): Metadata {
    return new ResponseMetadata(this.#values);
  }

  override toHttp2Headers(): OutgoingHttpHeaders {
    const headers = super.toHttp2Headers();
    return Object.assign(headers, { [sensitiveHeaders]: Object.keys(headers) });
  }
}
