import { once } from "node:events";
import { Agent, get } from "node:http";
import { create } from "@bufbuild/protobuf";
import { expect, test, vi } from "vitest";
import { exchange, lastRequest, listen, parse } from "./gateway.ts";
import { messageOf, serviceOf } from "./transcoding/contract.ts";

const service = serviceOf("transcoding.supported.ThingService");
const thing = create(messageOf("transcoding.supported.Thing"), {
  text: "é",
  amount: { value: "4500.00" },
});

test.each([
  ["/v1/thing", "GetThing", { text: "" }],
  ["/v1/thing/latest", "GetLatestThing", undefined],
  ["/v1/thing?text=a+b&integer=3", "GetThing", { text: "a b", integer: 3 }],
  ["/v1/%74hing?text=a", "GetThing", { text: "a" }],
  ["http://elsewhere/v1/thing?text=a", "GetThing", { text: "a" }],
])("%s calls %s", async (target, method, fields) => {
  const { port, calls } = await listen(service, () => thing);
  await exchange(port, lastRequest(`GET ${target}`));
  expect(calls.map((call) => call.method.name)).toEqual([method]);
  if (fields !== undefined) expect(calls[0]?.request()).toMatchObject(fields);
});

test("the pipeline gets every value of the headers that say who calls, and about whom", async () => {
  const { port, calls } = await listen(service, () => thing);
  const headers = [
    ...["Authorization: Bearer 1", "X-API-Key: 2", "X-Provider-Id: 7"],
    ...["authorization: Bearer 3", "x-api-key:", "x-provider-id:  8 "],
    "X-Forwarded-For: 192.0.2.1",
  ];
  await exchange(port, lastRequest("GET /v1/thing", ...headers));
  expect(calls[0]).toMatchObject({
    address: "192.0.2.1",
    credentials: {
      xApiKey: ["2", ""],
      authorization: ["Bearer 1", "Bearer 3"],
      xProviderId: ["7", "8"],
    },
  });
});

test("a response that cannot be written is a 500 without detail; the log has the detail", async () => {
  const bad = create(messageOf("transcoding.supported.Thing"), { amount: { value: "one" } });
  const { url, lines } = await listen(service, () => bad);
  const response = await fetch(`${url}/v1/thing`, { headers: { "x-request-id": "r" } });
  expect(response.status).toBe(500);
  expect(await response.text()).toBe('{"error":"An error occurred while retrieving revenue data"}');
  const message = 'field transcoding.supported.Thing.amount: "one" is not a decimal number';
  const fields = { requestId: "r", method: "GetThing", err: expect.objectContaining({ message }) };
  expect(lines).toEqual([{ message: "cannot write the response", fields }]);
});

test.each(["/v1/thing/", "/v1/thing/latest/more", "/v1/thing%2Flatest", "/V1/thing"])(
  "%s is a 404 that names the paths",
  async (target) => {
    const { port } = await listen(service, () => thing);
    const { status, body } = parse(await exchange(port, lastRequest(`GET ${target}`)));
    expect(status).toBe(404);
    expect(JSON.parse(body).message).toMatch(/; the paths are \/v1\/thing, /);
  },
);

test("every request is observed when its response is complete, with its route if it has one", async () => {
  const observed: unknown[] = [];
  const observeRequest = (request: object) => void observed.push(request);
  const { port } = await listen(service, () => thing, undefined, { observeRequest });
  for (const target of ["/v1/thing", "/v1/nothing"]) {
    await exchange(port, lastRequest(`GET ${target}`));
  }
  const milliseconds = expect.any(Number);
  expect(observed).toEqual([
    { method: "GET", route: "/v1/thing", status: 200, milliseconds },
    { method: "GET", route: undefined, status: 404, milliseconds },
  ]);
});

test.each<[number, string, string, RegExp]>([
  [400, "?format=csv", "*/*", /^unknown query parameter "format"; /],
  [
    406,
    "",
    "application/xml",
    /^no acceptable form of the response: application\/json and text\/csv are offered$/,
  ],
])(
  "a form that is not there is refused with what there is: %i",
  async (status, query, accept, message) => {
    const { port } = await listen(service, ({ request }) => {
      request();
      return thing;
    });
    const request = lastRequest(`GET /v1/thing${query}`, `Accept: ${accept}`);
    const response = parse(await exchange(port, request));
    expect(response.status).toBe(status);
    expect(JSON.parse(response.body).message).toMatch(message);
  },
);

test("a finished call is not canceled, and a kept-alive connection does not accumulate listeners", async () => {
  using warn = vi.spyOn(process, "emitWarning");
  const { url, calls } = await listen(service, () => thing);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let count = 0; count < 30; count++) {
    const [response] = await once(get(`${url}/v1/thing`, { agent }), "response");
    expect(response.headers.connection).toBe("keep-alive");
    await response.resume().toArray();
  }
  agent.destroy();
  expect(calls.filter((call) => call.signal.aborted)).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
});
