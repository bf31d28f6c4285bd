/**
 * The shipped files of nginx and HAProxy: `x-provider-id` does not pass where strangers come from, in whatever form
 * it is sent, and passes on the platform's own port. Behind them is a server that answers with the headers that it gets.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type OutgoingHttpHeaders,
} from "node:http2";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  createProxyFixture,
  PROXIES,
  type ProxyFixture,
  type ProxyName,
  type RunningProxy,
} from "./proxy-fixture.ts";

let fixture: ProxyFixture;
const proxies = {} as Record<ProxyName, RunningProxy>;

/** A line for each header. */
const linesOf = (raw: readonly string[]) =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${raw[at + 1]}`] : [])).join("\n");

const http: Server = createServer(({ rawHeaders }, response) => response.end(linesOf(rawHeaders)));
const grpc = createHttp2Server(({ rawHeaders }, response) => response.end(linesOf(rawHeaders)));

beforeAll(async () => {
  const portOf = async (server: typeof http | typeof grpc) => {
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `${(server.address() as AddressInfo).port}`;
  };
  const [HTTP_PORT, GRPC_PORT] = [await portOf(http), await portOf(grpc)];
  const instance = { HTTP_PORT, GRPC_PORT, ADMIN_PORT: HTTP_PORT };
  fixture = await createProxyFixture();
  for (const name of PROXIES) proxies[name] = await fixture.start(name, [instance, instance]);
});
afterAll(async () => {
  await fixture?.dispose();
  http.closeAllConnections();
  http.close();
  grpc.close();
});

/** Sends these lines as headers over HTTP/1.1 and TLS. Resolves to the whole response. */
async function sendLines(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port, ca: fixture.ca, servername: "localhost" });
  socket.on("error", () => {});
  const close = lines.some((line) => line.startsWith("Connection")) ? [] : ["Connection: close"];
  socket.write(["GET / HTTP/1.1", "Host: localhost", ...close, ...lines, "", ""].join("\r\n"));
  return (await buffer(socket).catch(() => Buffer.alloc(0))).toString("latin1");
}

/** Sends headers over HTTP/2. Resolves to the status and the body of the response. */
async function sendHttp2(port: number, headers: OutgoingHttpHeaders): Promise<string> {
  const session = connectHttp2(`https://localhost:${port}`, { ca: fixture.ca });
  const stream = session.request({ ":path": "/", ...headers }).end();
  const [response] = await once(stream, "response");
  const body = (await buffer(stream)).toString("latin1");
  session.destroy();
  return `${response[":status"]} ${body}`;
}

/** Whether a server behind sees what Node reads as the header. */
const arrives = (text: string) => /^x-provider-id:/im.test(text);

/** Forms in which a header may slip past who takes it out. */
const FORMS: readonly (readonly string[])[] = [
  ["X-Provider-Id: 7"],
  ["X-Provider-Id: 7", "X-Provider-Id: 8"],
  ["x-provider-id:"],
  ["X-Provider-Id : 7"],
  ["A: b", " X-Provider-Id: 7"],
  ["X_Provider_Id: 7"],
  ["X-Provider-Id\t: 7"],
  ["A: b\rX-Provider-Id: 7"],
  ["Connection: close, X-Provider-Id", "X-Provider-Id: 7"],
  ["Transfer-Encoding: chunked", "Trailer: X-Provider-Id", "", "0", "X-Provider-Id: 7"],
  ["Content-Length: 0", "Transfer-Encoding : chunked", "X-Provider-Id: 7"],
];

it.each(PROXIES)("%s takes x-provider-id from strangers, in every form", async (name) => {
  const { http: port } = proxies[name];
  expect(await sendLines(port, ["X-Request-Id: r-1"])).toMatch(/^x-request-id: r-1$/im);
  const sent = FORMS.map(async (lines) => ({ lines, response: await sendLines(port, lines) }));
  for (const { lines, response } of await Promise.all(sent)) {
    expect(arrives(response.replaceAll("\r", "")), JSON.stringify(lines)).toBe(false);
  }
  for (const value of ["7", ["7", "8"], ""]) {
    const response = await sendHttp2(port, { "x-provider-id": value, "x-other": "1" });
    expect(response).toMatch(/^200 /);
    expect(response).toContain("x-other");
    expect(arrives(response)).toBe(false);
  }
});

it.each(PROXIES)("%s lets it pass on the platform's own port", async (name) => {
  const headers = { ":method": "POST", "content-type": "application/grpc", te: "trailers" };
  const response = await sendHttp2(proxies[name].grpc, { ...headers, "x-provider-id": "7" });
  expect(response).toMatch(/^x-provider-id: 7$/m);
});
