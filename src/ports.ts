/** The servers of the two public ports, which share the limit on unread bytes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "./config.ts";
import { JSON_TYPE } from "./gateway/response.ts";
import { createGateway } from "./gateway/server.ts";
import { readWebFiles, type WebFile } from "./gateway/web/web-files.ts";
import { createGrpcServer } from "./grpc/server.ts";
import { createAddresses } from "./net/address.ts";
import { limitUnread } from "./net/unread.ts";
import type { Rpc } from "./rpc/call.ts";
import { servicesOn } from "./services.ts";
import type { ReportEvent } from "./telemetry/event-log.ts";
import type { Log } from "./telemetry/log.ts";
import type { Metrics } from "./telemetry/metrics/metrics.ts";
import { createSampledLog } from "./telemetry/sampled-log.ts";
import type { CertificateWatch } from "./tls/certificate-watch.ts";
import { createPortTls } from "./tls/port-tls.ts";

/** The OpenAPI documents, which `npm run generate` makes. */
const GENERATED = join(import.meta.dirname, "../gen");
/** The pages, as `npm run generate` builds them. */
const WEB_FOLDER = join(import.meta.dirname, "../gen/web");

/** What the ports are made of. */
interface PortParts {
  readonly config: Config;
  readonly rpc: Rpc;
  readonly log: Log;
  /** Counts what is closed or refused because of a limit. */
  readonly report: ReportEvent;
  readonly metrics: Metrics | undefined;
  /** The certificates of both ports; without them, connections are not encrypted. */
  readonly certificates: CertificateWatch | undefined;
}

/**
 * Creates the servers of both ports. They do not listen yet.
 *
 * @throws Error if the pages or the OpenAPI document cannot be read, or an RPC cannot be served
 */
export function createPorts(parts: PortParts) {
  const { config, rpc, report, metrics, certificates } = parts;
  const createTls = (protocol: "h2" | "http/1.1", clientCertificates = false) =>
    certificates && createPortTls({ certificates, protocol, clientCertificates, report });
  const addresses = createAddresses(config.trustedProxies);
  // A flood of requests that never become a call does not fill the disk.
  const log = createSampledLog(parts.log, { by: "status" });

  const gateway = createGateway({
    services: servicesOn("http", config.serviceKeys),
    rpc,
    addresses,
    log,
    countRejection: metrics?.rejectedRequest,
    maxConnections: config.maxConnections,
    report,
    web: config.web === "on" ? [...readWebFiles(WEB_FOLDER), readOpenApi(config)] : undefined,
    observeRequest: metrics?.observeHttpRequest,
    corsOrigins: config.corsOrigins,
    limits: { keepAliveTimeout: config.httpIdle },
    tls: createTls("http/1.1"),
  });
  const grpc = createGrpcServer(servicesOn("grpc", config.serviceKeys), rpc, addresses, {
    maxConnectionAge: config.maxConnectionAge,
    reflection: config.reflection,
    report,
    tls: createTls("h2", true),
  });
  metrics?.observeGrpc(grpc.open);
  limitUnread({ sources: [gateway.unread, grpc.unread], report });
  return { gateway, grpc };
}

/** The document says of service keys what the HTTP port does with them. */
function readOpenApi({ serviceKeys }: Config): WebFile {
  const file = serviceKeys === "all" ? "openapi-service-keys.json" : "openapi.json";
  return { path: "/openapi.json", type: JSON_TYPE, body: readFileSync(join(GENERATED, file)) };
}
