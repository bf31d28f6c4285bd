import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect } from "node:net";
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ServiceError } from "../../../src/errors.ts";
import { messageOf, serviceOf } from "../transcoding/contract.ts";
import { type Call, exchange, listen, parse } from "./gateway.ts";

const service = serviceOf("gateway.shapes.ThingService");
const thing = create(messageOf("gateway.shapes.Thing"), {
  text: "é",
  amount: { value: "4500.00" },
});

/** Answers with the thing, once the request could be decoded. */
const answerThing = (call: Call) => {
  call.request();
  return thing;
};

test("an RPC is answered in JSON with the headers of every answer", async () => {
  const { url, calls } = await listen(service, answerThing);
  const response = await fetch(`${url}/v1/things/t1`, { headers: { "x-request-id": "r-1" } });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": "r-1",
  });
  expect(await response.text()).toMatch(/^\{"text":"é",.*"amount":4500\.00,.*\}$/);
  expect(calls).toMatchObject([
    { protocol: "rest", requestId: "r-1", deadline: Number.POSITIVE_INFINITY },
  ]);
});

test("HEAD is answered like GET, without the body", async () => {
  const { port } = await listen(service, answerThing);
  const ask = async (method: string) =>
    parse(
      await exchange(
        port,
        `${method} /v1/things/t1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: r\r\nConnection: close\r\n\r\n`,
      ),
    );
  const [got, head] = [await ask("GET"), await ask("HEAD")];
  expect(head).toEqual({ ...got, body: "" });
  expect(got.headers.get("content-length")).toBe(`${Buffer.byteLength(got.body)}`);
});

test.each([
  ["/v1/things/t1", "GetThing", { thingId: "t1", text: "" }],
  ["/v1/things/a%2Fb%20%C3%A9", "GetThing", { thingId: "a/b é", text: "" }],
  ["/v1/things/latest", "GetLatestThing", undefined],
  ["/v1/things/t1?", "GetThing", { thingId: "t1", text: "" }],
  ["/v1/things/t1?text=a+b&whole=3", "GetThing", { thingId: "t1", text: "a b", whole: 3 }],
  ["/v1/%74hings/t1", "GetThing", { thingId: "t1" }],
  ["http://elsewhere/v1/things/t1?text=a", "GetThing", { thingId: "t1", text: "a" }],
])("%s calls %s", async (target, method, fields) => {
  const { port, calls } = await listen(service, () => thing);
  await exchange(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  expect(calls.map((call) => call.method.name)).toEqual([method]);
  if (fields !== undefined) expect(calls[0]?.request()).toMatchObject(fields);
});

test("both headers of a key reach the Rpc, each time they came", async () => {
  const { port, calls } = await listen(service, () => thing);
  await exchange(
    port,
    "GET /v1/things/t1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer 1\r\nX-API-Key: 2\r\n" +
      "authorization: Bearer 3\r\nx-api-key:\r\nConnection: close\r\n\r\n",
  );
  expect(calls[0]?.credentials).toEqual({
    xApiKey: ["2", ""],
    authorization: ["Bearer 1", "Bearer 3"],
  });
});

test("a request that cannot be bound is a 400 that says why", async () => {
  const { url } = await listen(service, answerThing);
  const response = await fetch(`${url}/v1/things/t1?whole=x`);
  expect(response.status).toBe(400);
  expect(await response.text()).toBe(
    '{"error":"Bad Request","message":"query parameter \\"whole\\" is \\"x\\"; it takes a whole number from -2147483648 to 2147483647"}',
  );
});

test("the request is not decoded before the Rpc asks for it", async () => {
  const { url } = await listen(service, () => {
    throw new ServiceError("unauthenticated");
  });
  const response = await fetch(`${url}/v1/things/t1?nonsense=%zz`);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
});

test("a refusal for load says when to come again", async () => {
  const { url } = await listen(service, () => {
    throw new ServiceError("overloaded");
  });
  const response = await fetch(`${url}/v1/things/t1`);
  expect(response.status).toBe(503);
  expect(response.headers.get("retry-after")).toBe("1");
});

test("a response that cannot be written is a 500 without detail, and in the log with it", async () => {
  const bad = create(messageOf("gateway.shapes.Thing"), { amount: { value: "one" } });
  const { url, lines } = await listen(service, () => bad);
  const response = await fetch(`${url}/v1/things/t1`, { headers: { "x-request-id": "r" } });
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"error":"An error occurred while retrieving revenue data"}');
  expect(lines).toEqual([
    {
      message: "cannot write the response",
      fields: {
        requestId: "r",
        method: "GetThing",
        err: expect.objectContaining({
          message: 'field gateway.shapes.Thing.amount: "one" is not a decimal number',
        }),
      },
    },
  ]);
});

test.each([
  "/",
  "/v1/things",
  "/v1/things/",
  "/v1/things/t1/",
  "/v1/things/t1/more",
  "//v1/things/t1",
  "/v1//things/t1",
  "/V1/things/t1",
  "/v1/things%2Ft1",
  "/gateway.shapes.ThingService/Nope",
  "/favicon.ico",
])("nothing is at %s", async (target) => {
  const { port, lines } = await listen(service, answerThing);
  const answer = parse(
    await exchange(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
  );
  expect(answer.status).toBe(404);
  expect(answer.body).toBe('{"error":"Not Found","message":"there is nothing at this path"}');
  expect(Object.fromEntries(answer.headers)).toMatchObject(COMMON);
  expect(lines).toEqual([
    {
      message: "refused",
      fields: {
        requestId: answer.headers.get("x-request-id"),
        protocol: "rest",
        status: 404,
      },
    },
  ]);
});

const COMMON = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
};

test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "QUERY"])(
  "%s is not what a REST path answers",
  async (method) => {
    const { port, calls } = await listen(service, answerThing);
    const answer = parse(
      await exchange(
        port,
        `${method} /v1/things/t1?x=1 HTTP/1.1\r\nHost: a\r\nContent-Type: ;;\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{x}`,
      ),
    );
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
    expect(answer.body).toBe(
      '{"error":"Method Not Allowed","message":"this path answers GET, HEAD"}',
    );
    expect(Object.fromEntries(answer.headers)).toMatchObject(COMMON);
    expect(calls).toEqual([]);
  },
);

test.each([
  ["of a length", "Content-Length: 5\r\n\r\nhello"],
  ["of an odd type", "Content-Type: ;;x\r\nContent-Length: 5\r\n\r\nhello"],
  ["in chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"],
  ["of a megabyte", `Content-Length: 1048576\r\n\r\n${"x".repeat(1_048_576)}`],
])("a body with GET is ignored: %s", async (_name, rest) => {
  const { port, calls } = await listen(service, answerThing);
  const raw = await exchange(
    port,
    `GET /v1/things/t1 HTTP/1.1\r\nHost: a\r\n${rest}`,
    "GET /v1/things/t2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  expect(raw.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
  expect(calls).toHaveLength(2);
});

test("a client that goes away aborts its call", async () => {
  const { port, calls } = await listen(service, () => new Promise(() => {}));
  const socket = connect(port, "127.0.0.1");
  socket.write("GET /v1/things/t1 HTTP/1.1\r\nHost: a\r\n\r\n");
  await expect.poll(() => calls.length).toBe(1);
  const signal = calls[0]?.signal as AbortSignal;
  expect(signal.aborted).toBe(false);
  socket.destroy();
  await once(signal, "abort");
  expect(signal.reason).toEqual(new ServiceError("canceled"));
});

test("an answered call is not aborted, and a kept-alive connection collects no listeners", async () => {
  const warnings: Error[] = [];
  const collect = (warning: Error) => warnings.push(warning);
  process.on("warning", collect);
  const { url, calls } = await listen(service, answerThing);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let turn = 0; turn < 30; turn++) {
    const [response] = await once(get(`${url}/v1/things/t1`, { agent }), "response");
    await response.resume().toArray();
  }
  agent.destroy();
  process.off("warning", collect);
  expect(calls.filter((call) => call.signal.aborted)).toEqual([]);
  expect(warnings).toEqual([]);
});
