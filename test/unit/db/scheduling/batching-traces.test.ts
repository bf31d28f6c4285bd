/** To which trace a shared statement belongs. */
import { setTimeout as sleep } from "node:timers/promises";
import { context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { type ReadableSpan, TracerProvider } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBatching } from "../../../../src/db/scheduling/batching.ts";

/** A caller that never leaves. */
const staying = () => ({ signal: new AbortController().signal, deadline: Infinity });

describe("in traces", () => {
  const provider = new TracerProvider();
  const tracer = provider.getTracer("test");
  const manager = new AsyncLocalStorageContextManager();
  beforeAll(() => context.setGlobalContextManager(manager.enable()));
  afterAll(() => context.disable());

  it("a shared statement is in the first recorded one, and the others link to that", async () => {
    const active: unknown[] = [];
    const read = createBatching<string, string>({
      sizes: [4],
      keyOf: (item) => item,
      alone: (item) => sleep(10, item),
      async together(items) {
        active.push(trace.getActiveSpan());
        return [...items];
      },
    });
    const spans = ["c", "d", "e"].map((name) => tracer.startSpan(name));
    const reads = [
      ...["a", "b", "not traced"].map((item) => read(item, staying())),
      ...spans.map((span) =>
        context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
          read(span.spanContext().spanId, staying()),
        ),
      ),
    ];
    await Promise.all(reads);
    const [first, ...others] = spans;
    expect(active).toEqual([first]);
    const links = (span: unknown) =>
      (span as ReadableSpan).links.map(({ context }) => context.spanId);
    expect(links(first)).toEqual([]);
    for (const other of others) expect(links(other)).toEqual([first?.spanContext().spanId]);
  });

  it("a read alone is in its own", async () => {
    const active: unknown[] = [];
    const read = createBatching<string, string>({
      sizes: [],
      keyOf: (item) => item,
      async alone(item) {
        active.push(trace.getActiveSpan());
        return item;
      },
      together: async () => [],
    });
    const spans = ["a", "b", "c"].map((name) => tracer.startSpan(name));
    await Promise.all(
      spans.map((span) =>
        context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
          read(span.spanContext().spanId, staying()),
        ),
      ),
    );
    expect(active).toEqual(spans);
  });
});
