/** nginx and HAProxy as shipped, in the real programs, in front of two instances, and callers through them. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { expect } from "vitest";
import { freePort } from "../../../dev/free-port.ts";
import { methodOf, requestMessage } from "../../support/clients/client.ts";
import { callGrpc } from "../../support/clients/grpc-client.ts";
import { until } from "../../support/poll.ts";
import { paths, withKey } from "../../support/request.ts";
import { createAuthority } from "../../support/tls/certificates.ts";
import { rootFile } from "../markdown.ts";
import { findDebianProgram } from "./debian-program.ts";

/** The proxies: the file that is shipped, and where Debian's package has the program. */
const KINDS = {
  nginx: { file: "deploy/nginx/revenue.conf", program: "usr/sbin/nginx" },
  haproxy: { file: "deploy/haproxy/revenue.cfg", program: "usr/sbin/haproxy" },
};

/** The name of a proxy. */
export type ProxyName = keyof typeof KINDS;
export const PROXIES = Object.keys(KINDS) as ProxyName[];

/** The ports of an instance behind a proxy, as variables of the service. */
export type InstancePorts = Readonly<Record<"HTTP_PORT" | "GRPC_PORT" | "ADMIN_PORT", string>>;

/** Free ports for an instance. */
export async function instancePorts(): Promise<InstancePorts> {
  const port = async () => `${await freePort()}`;
  return { HTTP_PORT: await port(), GRPC_PORT: await port(), ADMIN_PORT: await port() };
}

/** A proxy that runs. */
export interface RunningProxy {
  readonly name: ProxyName;
  /** The port that stands for 443. */
  readonly http: number;
  /** The port that stands for 8443. */
  readonly grpc: number;
  /** The lines of its log so far, one for each request. */
  log(): string;
}

/** Makes a call with a request id. Resolves to what was lost; undefined if nothing was. */
export type Call = (requestId: string) => Promise<string | undefined>;

/** Starts proxies, and ends them. */
export type ProxyFixture = Awaited<ReturnType<typeof createProxyFixture>>;

/** The program of a proxy. It may have to be downloaded. */
export const findProxy = (name: ProxyName) => findDebianProgram(name, KINDS[name].program);

/** Creates a folder with certificates, in which proxies run. */
export async function createProxyFixture() {
  const folder = mkdtempSync(join(tmpdir(), "revenue-proxies-"));
  const file = (name: string) => join(folder, name);
  const authority = await createAuthority();
  const [ca, pair] = [authority.cert, await authority.issue()];
  writeFileSync(file("tls.crt"), pair.cert);
  writeFileSync(file("tls.key"), pair.key);
  writeFileSync(file("tls.pem"), `${pair.cert}\n${pair.key}`);
  const running: { readonly child: ChildProcess; readonly ended: Promise<unknown> }[] = [];

  /** Makes one GET. Rejects if there is no complete response. */
  async function get(
    { http }: Pick<RunningProxy, "http">,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    agent?: HttpsAgent,
  ) {
    const url = `https://localhost:${http}${path}`;
    const request = httpsRequest(url, { ca, headers, ...(agent && { agent }) }).end();
    const [response] = await once(request, "response");
    await buffer(response);
    return { status: response.statusCode as number, headers: response.headers };
  }

  /**
   * Starts a proxy as Debian does, in the foreground, and waits until it answers.
   *
   * @param change what of the shipped file is otherwise
   */
  async function start(
    name: ProxyName,
    instances: readonly InstancePorts[],
    change = (text: string) => text,
  ): Promise<RunningProxy> {
    const [http, grpc] = [await freePort(), await freePort()];
    const text = change(placed(name, { folder, http, grpc, instances }));
    const { path, env } = findProxy(name);
    const args = name === "nginx" ? nginxArguments(folder, text) : haproxyArguments(folder, text);
    const child = spawn(path, args, { env: { ...process.env, ...env } });
    running.push({ child, ended: once(child, "exit") });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => (output += chunk));
    }
    const log = () => {
      if (name === "haproxy") return output;
      return existsSync(file("revenue.log")) ? readFileSync(file("revenue.log"), "utf8") : "";
    };
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended:\n${output}`);
      return get({ http }, "/openapi.json").then(
        ({ status }) => status === 200,
        () => false,
      );
    });
    return { name, http, grpc, log };
  }

  /** Makes GetOverview over each protocol, each on a connection of its own. */
  function callers(proxy: RunningProxy, key: string) {
    const agent = new HttpsAgent({ keepAlive: true, maxSockets: 1 });
    const client = new Client(`localhost:${proxy.grpc}`, credentials.createSsl(Buffer.from(ca)), {
      "grpc.use_local_subchannel_pool": 1,
    });
    const baseUrl = `https://localhost:${proxy.http}`;
    const options = { baseUrl, httpVersion: "2", nodeOptions: { ca } } as const;
    const headers = (id: string) => [...withKey(key), ["x-request-id", id]] as [string, string][];
    const call = (transport: Transport) => (id: string) =>
      transport
        .unary(methodOf("GetOverview"), undefined, undefined, headers(id), OVERVIEW)
        .then(() => undefined, String);
    const get200 = (id: string) =>
      get(proxy, paths.GetOverview, Object.fromEntries(headers(id)), agent).then(
        ({ status }) => (status === 200 ? undefined : `${status}`),
        String,
      );
    return {
      rest: get200,
      // These are POST.
      connect: call(createConnectTransport(options)),
      grpcWeb: call(createGrpcWebTransport(options)),
      grpc: async (id) => {
        const outcome = await callGrpc(client, { method: "GetOverview", headers: headers(id) });
        return "response" in outcome ? undefined : `${outcome.code}: ${outcome.message}`;
      },
    } satisfies Record<string, Call>;
  }

  return {
    ...{ folder, authority, ca, get, start, callers },
    async dispose(): Promise<void> {
      for (const { child, ended } of running) {
        child.kill("SIGTERM");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const OVERVIEW = requestMessage({ method: "GetOverview" });

/** Where a proxy is to run. */
interface Place extends Pick<RunningProxy, "http" | "grpc"> {
  readonly folder: string;
  readonly instances: readonly InstancePorts[];
}

/** The shipped file with addresses and paths of a test. Each of them is in it. */
function placed(name: ProxyName, { folder, http, grpc, instances }: Place): string {
  const changes: [string | RegExp, string][] = [
    ["/etc/revenue/", `${folder}/`],
    [/(?<=(listen |bind :))443\b/, `${http}`],
    [/(?<=(listen |bind )127\.0\.0\.1:)8443\b/, `${grpc}`],
    ...instances.flatMap(({ HTTP_PORT, GRPC_PORT }, index): [string, string][] => [
      [`127.0.0.1:808${index + 1}`, `127.0.0.1:${HTTP_PORT}`],
      [`127.0.0.1:5005${index + 1}`, `127.0.0.1:${GRPC_PORT}`],
    ]),
    ...(name === "nginx" ? [] : instances).map(({ ADMIN_PORT }, index): [RegExp, string] => [
      new RegExp(`(?<=check port )946${index + 1}\\b`, "g"),
      ADMIN_PORT,
    ]),
  ];
  if (name === "nginx") changes.push(["/var/log/nginx/", `${folder}/`]);
  return changes.reduce((text, [from, to]) => {
    expect(text).toMatch(from);
    return typeof from === "string" ? text.replaceAll(from, to) : text.replace(from, to);
  }, rootFile(KINDS[name].file));
}

function nginxArguments(folder: string, text: string): string[] {
  const file = (name: string) => join(folder, name);
  writeFileSync(file("revenue.conf"), text);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${file(name)};`,
  );
  const lines = [
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `daemon off; pid ${file("nginx.pid")}; error_log stderr;`,
    `events {} http { access_log off; ${temporary.join(" ")} include ${file("revenue.conf")}; }`,
  ];
  writeFileSync(file("nginx.conf"), `${lines.join("\n")}\n`);
  return ["-e", "stderr", "-c", file("nginx.conf")];
}

function haproxyArguments(folder: string, text: string): string[] {
  const file = join(folder, "haproxy.cfg");
  writeFileSync(file, `global\n  log stdout format raw local0\n${text}`);
  return ["-db", "-f", file];
}
