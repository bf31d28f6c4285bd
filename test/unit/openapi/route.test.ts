/** `GET /openapi.json`: without a key, cacheable, and only if there is a document. */
import { expect, test } from "vitest";
import { listen } from "../gateway/gateway.ts";
import { serviceOf } from "../transcoding/contract.ts";

const service = serviceOf("transcoding.supported.ThingService");
const refuse = () => {
  throw new Error("the document needs no call");
};
/** Long enough to be compressed. */
const DOCUMENT = `{"openapi":"3.1.1","info":{"title":"${"é".repeat(512)}"}}\n`;

const serve = (openApi?: string) => listen(service, refuse, refuse, { openApi });

test("the document is served as it is, without a key, and may be cached", async () => {
  const { url, lines } = await serve(DOCUMENT);
  const response = await fetch(`${url}/openapi.json?v=1`, {
    headers: { "x-request-id": "r-1", "accept-encoding": "identity" },
  });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(DOCUMENT);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-length": `${Buffer.byteLength(DOCUMENT)}`,
    "cache-control": "public, max-age=300",
    "x-content-type-options": "nosniff",
    "x-request-id": "r-1",
    vary: "accept-encoding",
    etag: expect.stringMatching(/^W\/"[\w-]+"$/),
  });
  expect(lines).toEqual([]);
});

test("another document has another tag", async () => {
  const etagOf = async (text: string) =>
    (await fetch(`${(await serve(text)).url}/openapi.json`)).headers.get("etag");
  expect(await etagOf(DOCUMENT)).not.toBe(await etagOf("{}"));
});

test("a document that the client has is not sent again, and one for it is compressed as it asks", async () => {
  const { url } = await serve(DOCUMENT);
  const get = (headers: Record<string, string>) => fetch(`${url}/openapi.json`, { headers });
  const first = await get({ "accept-encoding": "gzip" });
  expect(first.headers.get("content-encoding")).toBe("gzip");
  expect(await first.text()).toBe(DOCUMENT);
  const etag = first.headers.get("etag") ?? "";
  const again = await get({ "if-none-match": `"x", ${etag}` });
  expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: "" });
  expect(again.headers.get("cache-control")).toBe("public, max-age=300");
  expect((await get({ "if-none-match": '"x"' })).status).toBe(200);
});

test("HEAD is allowed, another method is a 405, and without a document the path is a 404", async () => {
  const { url } = await serve(DOCUMENT);
  const headers = { "accept-encoding": "identity" };
  const send = (method: string, to = url) => fetch(`${to}/openapi.json`, { method, headers });
  const head = await send("HEAD");
  expect(head.headers.get("content-length")).toBe(`${Buffer.byteLength(DOCUMENT)}`);
  const post = await send("POST");
  expect({ status: post.status, allow: post.headers.get("allow") }).toEqual({
    status: 405,
    allow: "GET, HEAD",
  });
  expect((await send("POST", (await serve()).url)).status).toBe(404);
});
