import { expect, it, onTestFinished, vi } from "vitest";
import { limitUnread } from "../../../src/net/unread.ts";

/** Connections with unread bytes. Those that were closed are no longer in them. */
function connections(sizes: readonly number[], isPublic = false) {
  const open = new Set(sizes.map((bytes) => ({ bytes, isPublic, close: () => {} })));
  for (const connection of open) connection.close = () => open.delete(connection);
  return { source: () => open, sizes: () => [...open].map(({ bytes }) => bytes) };
}

/** Checks a limit of 100 bytes, and expects it to close this number of connections. */
function expectClosed(number: number, ...ports: readonly ReturnType<typeof connections>[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const events: string[] = [];
  limitUnread({
    sources: ports.map(({ source }) => source),
    maxUnreadBytes: 100,
    report: (event) => events.push(event),
  });
  vi.advanceTimersByTime(1_000);
  expect(events).toEqual(Array(number).fill("tooManyUnreadBytes"));
}

it("closes the connections with the most unread bytes, of all ports, until the sum is within the limit", () => {
  const [http, grpc] = [connections([10, 60, 20]), connections([30, 50])];
  expectClosed(2, http, grpc);
  expect([http.sizes(), grpc.sizes()]).toEqual([[10, 20], [30]]);
});

it("closes those of responses that need no key before all others", () => {
  const [files, calls] = [connections([10, 20, 5], true), connections([60, 30])];
  expectClosed(2, calls, files);
  expect([files.sizes(), calls.sizes()]).toEqual([[5], [60, 30]]);
});
