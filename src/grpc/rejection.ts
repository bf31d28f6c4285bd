/**
 * The log of gRPC requests that never become a call, because grpc-js or this port refuses them: an
 * unknown method, a message that is too large or missing, a content type that is not gRPC's.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { status } from "@grpc/grpc-js";
import { requestIdFrom } from "../rpc/request-id.ts";

/** What rejections are logged to. The path, and other headers than the request id, never are. */
export interface RejectionLog {
  info(fields: object, message: string): void;
}

/** Logs a stream that has ended, if it was refused before it became a call. */
export function logRejection(
  log: RejectionLog,
  stream: ServerHttp2Stream,
  request: IncomingHttpHeaders,
): void {
  const sent: OutgoingHttpHeaders | undefined = stream.sentHeaders;
  // Only responses of the pipeline, which logs its calls, have a request id.
  if (sent === undefined || sent["x-request-id"] !== undefined) return;
  const code = sent["grpc-status"] ?? stream.sentTrailers?.["grpc-status"];
  const result =
    code === undefined ? { status: Number(sent[":status"]) } : { code: status[Number(code)] };
  if (result.code === "OK" || result.status === 200) return;
  // The deadline passed while the pipeline worked on the call.
  if (result.code === "DEADLINE_EXCEEDED" && stream.readableEnded) return;
  const requestId = requestIdFrom(request["x-request-id"]);
  log.info({ requestId, protocol: "grpc", ...result }, "request rejected");
}
