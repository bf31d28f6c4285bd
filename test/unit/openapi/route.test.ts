/** `GET /openapi.json`: without a key, cacheable, and only if there is a document. */
import { expect, test } from "vitest";
import { exchange, listen, parse } from "../gateway/gateway.ts";
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

test("HEAD gets the headers of GET, without the body", async () => {
  const { port } = await serve(DOCUMENT);
  const send = async (method: string) =>
    parse(
      await exchange(
        port,
        `${method} /openapi.json HTTP/1.1\r\nHost: a\r\nX-Request-Id: r\r\nConnection: close\r\n\r\n`,
      ),
    );
  const [got, head] = [await send("GET"), await send("HEAD")];
  expect(head).toEqual({ ...got, body: "" });
});

test.each([
  ["the same tag", (etag: string) => etag, 304],
  ["the same tag, strong", (etag: string) => etag.replace("W/", ""), 304],
  ["one of several tags", (etag: string) => `"x", ${etag}`, 304],
  ["any tag", () => "*", 304],
  ["another tag", () => '"x"', 200],
  ["a part of the tag", (etag: string) => etag.slice(0, 10), 200],
])("If-None-Match with %s", async (_name, header, status) => {
  const { url } = await serve(DOCUMENT);
  const first = await fetch(`${url}/openapi.json`);
  const etag = first.headers.get("etag") ?? "";
  const again = await fetch(`${url}/openapi.json`, { headers: { "if-none-match": header(etag) } });
  expect(again.status).toBe(status);
  expect(await again.text()).toBe(status === 304 ? "" : DOCUMENT);
  expect(again.headers.get("etag")).toBe(etag);
  expect(again.headers.get("cache-control")).toBe("public, max-age=300");
});

test("the document is compressed for a client that asks for it", async () => {
  const { url } = await serve(DOCUMENT);
  const response = await fetch(`${url}/openapi.json`, { headers: { "accept-encoding": "gzip" } });
  expect(response.headers.get("content-encoding")).toBe("gzip");
  expect(await response.text()).toBe(DOCUMENT);
});

test("another document has another tag", async () => {
  const etagOf = async (text: string) =>
    (await fetch(`${(await serve(text)).url}/openapi.json`)).headers.get("etag");
  expect(await etagOf(DOCUMENT)).not.toBe(await etagOf("{}"));
});

test("another method is a 405", async () => {
  const { url } = await serve(DOCUMENT);
  const response = await fetch(`${url}/openapi.json`, { method: "POST", body: "x" });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe("GET, HEAD");
});

test("without a document the path is a 404, whatever the method", async () => {
  const { url } = await serve();
  expect((await fetch(`${url}/openapi.json`)).status).toBe(404);
  expect((await fetch(`${url}/openapi.json`, { method: "POST" })).status).toBe(404);
});
