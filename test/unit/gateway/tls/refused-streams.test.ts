/** Requests over HTTP/2 that are refused before they become calls. */
import { expect, it } from "vitest";
import { PATH } from "../overview.ts";
import { listenTls, openHttp2, send } from "./gateway-tls.ts";

const REST = "/api/provider/revenue";
const KEY = { "x-api-key": "k" };
const JSON_TYPE = { "content-type": "application/json" };

it("a body that does not arrive in time is 408, and the connection stays", async () => {
  const { url, lines } = await listenTls({ sessions: { requestTimeout: 200 } });
  const session = openHttp2(url);
  const headers = { ":path": PATH, ":method": "POST", ...KEY, ...JSON_TYPE };
  expect(await send(session, headers, "{", false)).toMatchObject({
    status: 408,
    body: '{"error":"Request Timeout","message":"the request was not received in time"}',
  });
  expect(lines.map(({ fields }) => fields)).toEqual([
    {
      requestId: expect.any(String),
      protocol: "rest",
      status: 408,
      reason: "ERR_HTTP_REQUEST_TIMEOUT",
    },
  ]);
  expect(await send(session, { ":path": REST, ...KEY })).toMatchObject({ status: 200 });
});

it.each([
  [REST, 405, "GET, HEAD"],
  [PATH, 405, "GET, POST"],
  ["/nothing", 404, undefined],
])("a method that HTTP/1.1 does not know, on the path %s: %d", async (path, status, allow) => {
  const { url } = await listenTls();
  const session = openHttp2(url);
  const unknown = await send(session, { ":path": path, ":method": "GARB" });
  const known = await send(session, { ":path": path, ":method": "PROPFIND" });
  expect(unknown).toMatchObject({ status, body: known.body });
  expect(unknown.headers.allow).toBe(allow);
  const varying = { date: expect.any(String), "x-request-id": expect.any(String) };
  expect(unknown.headers).toEqual({ ...known.headers, ...varying });
});

it("a HEAD request that is refused before it becomes a call gets no body", async () => {
  const { url } = await listenTls({ sessions: { requestTimeout: 200 } });
  const session = openHttp2(url);
  const refused = { ":path": REST, ":method": "HEAD", ...KEY, expect: "cookies" };
  expect(await send(session, refused)).toMatchObject({ status: 417, body: "", code: 0 });
  const headers = { ":path": PATH, ":method": "POST", ...KEY, ...JSON_TYPE };
  expect(await send(session, headers, "{}")).toMatchObject({ status: 200 });
});
