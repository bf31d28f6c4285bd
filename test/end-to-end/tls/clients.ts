/** Clients that make one call each, with TLS. */
import { once } from "node:events";
import { Agent, request } from "node:https";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { Client, credentials } from "@grpc/grpc-js";
import { callGrpc } from "../../support/clients/grpc-client.ts";
import { paths, withKey } from "../../support/request.ts";
import type { Pair } from "../../support/tls/certificates.ts";

const path = paths.GetOverview;

/** A REST call over HTTP/1.1 on a new connection, or on that of the agent. Resolves to its status. */
export async function getHttp1(url: string, ca: string, key: string, agent = new Agent()) {
  const headers = Object.fromEntries(withKey(key));
  const outgoing = request(new URL(path, url), { ca, agent, headers }).end();
  const [response] = await once(outgoing, "response");
  await text(response);
  return response.statusCode as number;
}

/** A gRPC client with a channel of its own. `call` resolves to "OK" or a code and a message. */
export function grpcTlsClient(address: string, ca: string, own?: Pair) {
  const client = new Client(
    // grpc-js accepts no address as the name of a server.
    address.replace("127.0.0.1", "localhost"),
    credentials.createSsl(
      Buffer.from(ca),
      own ? Buffer.from(own.key) : null,
      own ? Buffer.from(own.cert) : null,
    ),
    { "grpc.use_local_subchannel_pool": 1 },
  );
  return {
    async call(key?: string) {
      const headers = key === undefined ? [] : withKey(key);
      const outcome = await callGrpc(client, { method: "GetOverview", headers, timeout: 10_000 });
      return "response" in outcome ? "OK" : outcome.code;
    },
    close: () => client.close(),
  };
}

/** The name in the certificate of a port. */
export async function certificateName(port: string, ca: string): Promise<string> {
  const socket = connectTls({
    port: Number(port),
    host: "127.0.0.1",
    ca,
    ALPNProtocols: ["h2", "http/1.1"],
  });
  await once(socket, "secureConnect");
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}
