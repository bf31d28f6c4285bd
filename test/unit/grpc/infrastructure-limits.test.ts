/** Limits of health and reflection, which need no key. */
import type { ClientHttp2Session } from "node:http2";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { expect, it } from "vitest";
import { MAX_WATCHES_PER_CONNECTION } from "../../../src/grpc/health.ts";
import { createPlaces } from "../../../src/grpc/places.ts";
import {
  MAX_QUESTIONS_PER_SECOND,
  MAX_REFLECTIONS_PER_CONNECTION,
} from "../../../src/grpc/reflection-limit.ts";
import { frame as message } from "../../support/clients/raw-clients.ts";
import { until } from "../../support/poll.ts";
import { call, EMPTY, listen, openSession, openStream, statusOf } from "./grpc-server.ts";

const CHECK = "/grpc.health.v1.Health/Check";
const WATCH = "/grpc.health.v1.Health/Watch";
const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
/** A request for the list of services. */
const QUESTION = message(new BinaryWriter().tag(7, WireType.LengthDelimited).string("").finish());

/** Opens a stream and sends a message. Resolves at its first response, or to its status. */
function opened(session: ClientHttp2Session, path: string, bytes: Uint8Array, end: boolean) {
  const stream = openStream(session, path);
  stream.write(bytes);
  if (end) stream.end();
  const data = new Promise<string>((resolve) => stream.once("data", () => resolve("open")));
  return { stream, outcome: Promise.race([data, statusOf(stream)]) };
}

const watch = (session: ClientHttp2Session) => opened(session, WATCH, EMPTY, true);
const reflect = (session: ClientHttp2Session) => opened(session, REFLECTION, QUESTION, false);

it("a connection may have 20 health watches, and gets a place back when one ends", async () => {
  const { port, events } = await listen();
  const session = openSession(port);
  const watches = Array.from({ length: MAX_WATCHES_PER_CONNECTION }, () => watch(session));
  expect(new Set(await Promise.all(watches.map(({ outcome }) => outcome)))).toEqual(
    new Set(["open"]),
  );
  expect(await watch(session).outcome).toBe("8 too many health watches are open");
  expect(events).toEqual(["watchLimit"]);
  expect(await call(session, CHECK)).toBe("0 OK");
  watches[0]?.stream.close();
  await until(10_000, async () => (await watch(session).outcome) === "open");
});

it("all connections together may have maxWatches, and health checks go on", async () => {
  const { port } = await listen({ maxWatches: 2 });
  const sessions = Array.from({ length: 3 }, () => openSession(port));
  const outcomes: string[] = [];
  for (const session of sessions) outcomes.push(await watch(session).outcome);
  expect(outcomes).toEqual(["open", "open", "8 too many health watches are open"]);
  expect(await call(openSession(port), CHECK)).toBe("0 OK");
});

it("a connection may have 5 reflection streams", async () => {
  const { port, events } = await listen();
  const session = openSession(port);
  for (let count = 0; count < MAX_REFLECTIONS_PER_CONNECTION; count++) {
    expect(await reflect(session).outcome).toBe("open");
  }
  expect(await reflect(session).outcome).toBe("8 too many reflection streams are open");
  expect(events).toEqual(["reflectionLimit"]);
  expect(await reflect(openSession(port)).outcome).toBe("open");
});

it("all connections together may have maxReflections, and a place is free when one ends", async () => {
  const { port } = await listen({ maxReflections: 1 });
  const first = reflect(openSession(port));
  expect(await first.outcome).toBe("open");
  const second = openSession(port);
  expect(await reflect(second).outcome).toBe("8 too many reflection streams are open");
  first.stream.end();
  await until(10_000, async () => (await reflect(second).outcome) === "open");
});

it("more than 200 reflection questions a second are refused", async () => {
  const { port } = await listen();
  const { stream, outcome } = reflect(openSession(port));
  expect(await outcome).toBe("open");
  const status = statusOf(stream);
  stream.write(Buffer.concat(Array<Buffer>(3 * MAX_QUESTIONS_PER_SECOND).fill(QUESTION)));
  expect(await status).toBe("8 too many reflection questions; retry after one second");
});

it("the reflection questions of a second are a setting", async () => {
  const { port } = await listen({ maxReflectionQuestions: 3 });
  const { stream, outcome } = reflect(openSession(port));
  expect(await outcome).toBe("open");
  const status = statusOf(stream);
  stream.write(Buffer.concat(Array<Buffer>(10).fill(QUESTION)));
  expect(await status).toBe("8 too many reflection questions; retry after one second");
});

it("reflection can be turned off", async () => {
  const { port } = await listen({ reflection: "off" });
  expect(await reflect(openSession(port)).outcome).toMatch(/^12 /);
});

it("places are given in all and for each connection", () => {
  const places = createPlaces(3, 2);
  const first = places.take("a:1");
  expect(places.take("a:1")).toBeDefined();
  expect(places.take("a:1")).toBeUndefined();
  expect(places.take("b:1")).toBeDefined();
  expect(places.take("c:1")).toBeUndefined();
  first?.();
  first?.();
  expect(places.take("c:1")).toBeDefined();
  expect(places.take("b:1")).toBeUndefined();
});
