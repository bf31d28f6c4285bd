/** A collector of OpenTelemetry spans: OTLP over HTTP, in JSON. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A span. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 INTERNAL, 2 SERVER, 3 CLIENT. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly statusCode: number;
  /** The attributes of its resource. */
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A running collector. */
export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>;

/** Attributes as they are sent. */
type Sent = readonly { readonly key: string; readonly value: object }[];

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Sent };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
}
type SentSpan = CollectedSpan & { attributes: Sent; status: { readonly code?: number } };

const byKey = (attributes: Sent) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

/** Starts a collector on a free port. */
export async function startTraceCollector() {
  const collected: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const { resourceSpans } = (await json(request)) as Export;
    for (const { resource, scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        collected.push({
          ...span,
          attributes: byKey(span.attributes),
          statusCode: span.status.code ?? 0,
          resource: byKey(resource.attributes),
        });
      }
    }
    const status = request.url === "/v1/traces" ? 200 : 404;
    response.writeHead(status, { "content-type": "application/json" }).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: (): readonly CollectedSpan[] => collected,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
