/** Requests of Swagger UI with a key as somebody pasted it: the browser would refuse some, and the service others. */
import { keyIn } from "../key-text.ts";

/** A request, as the option `requestInterceptor` gets it. */
interface SwaggerRequest {
  readonly headers?: Record<string, string>;
}

/** Leaves of each header that has a key the key alone, after its scheme. */
export function withPastedKey(request: SwaggerRequest): SwaggerRequest {
  const { headers = {} } = request;
  for (const [name, value] of Object.entries(headers)) {
    const key = keyIn(value);
    if (key) headers[name] = name.toLowerCase() === "authorization" ? `Bearer ${key}` : key;
  }
  return request;
}
