import type { Attributes, SpanOptions, TimeInput } from "@opentelemetry/api";
import { describe, expect, it } from "vitest";
import { payload } from "../test/client.ts";
import {
  adsVariants,
  readyCache,
  serve,
  types,
  type Harness,
  type OpenCall,
  type VariantName,
} from "../test/harness.ts";
import type { ServerOptions } from "./index.ts";

type ChangeTracer = NonNullable<ServerOptions["tracer"]>;

interface TestSpan {
  readonly name: string;
  readonly start: number;
  readonly attributes: Attributes;
  readonly events: string[];
  error?: string | undefined;
  end?: number;
}

const msOf = (time: TimeInput | undefined): number => (time as Date).getTime();

/** Creates a tracer that keeps its spans. With `records` false, the spans are sampled out. */
function useTracer(records = true): { readonly tracer: ChangeTracer; readonly spans: TestSpan[] } {
  const spans: TestSpan[] = [];
  const startSpan = (name: string, options: SpanOptions = {}): unknown => {
    const span: TestSpan = {
      name,
      start: msOf(options.startTime),
      attributes: { ...options.attributes },
      events: [],
    };
    spans.push(span);
    return {
      isRecording: () => records,
      addEvent(event: string, attributes: Attributes | Date, at?: Date) {
        const { "xdstp.client": client = "", "xdstp.reason": reason = "" } =
          attributes instanceof Date ? {} : attributes;
        span.events.push(
          `${msOf(at ?? (attributes as Date))} ${event} ${String(client)} ${String(reason)}`.trim(),
        );
      },
      setAttributes(attributes: Attributes) {
        Object.assign(span.attributes, attributes);
      },
      setStatus({ message }: { readonly message?: string }) {
        span.error = message;
      },
      end(at?: TimeInput) {
        span.end = at === undefined ? -1 : msOf(at);
      },
    };
  };
  return { tracer: { startSpan } as unknown as ChangeTracer, spans };
}

interface Traced extends Harness {
  readonly cache: ReturnType<typeof readyCache>;
  readonly spans: TestSpan[];
  readonly change: (name: string, text: string) => void;
  readonly clients: (variant: VariantName, ...ids: readonly string[]) => readonly OpenCall[];
}

/** Creates a server with a tracer whose clients have accepted everything. */
function setup(records = true): Traced {
  const { tracer, spans } = useTracer(records);
  const cache = readyCache();
  for (const name of ["a", "b"]) cache.put({ typeUrl: types.cluster, name, value: payload(name) });
  const harness = serve(cache, { tracer });
  return {
    ...harness,
    cache,
    spans,
    change(name, text) {
      cache.put({ typeUrl: types.cluster, name, value: payload(name, text) });
    },
    clients: (variant, ...ids) =>
      ids.map((id) => {
        const call = harness.open(variant, { id });
        call.ask(types.cluster, ["a"]);
        harness.turn();
        call.ack(call.next());
        return call;
      }),
  };
}

describe.each(adsVariants)("traces of changes (%s)", (variant) => {
  it(`are one span from the commit to the last ACK (${variant}) [S-ACK-9]`, () => {
    const { spans, change, clients, clock, turn } = setup();
    const calls = clients(variant, "one", "two");
    expect(spans).toEqual([]);
    clock.advance(1_000);
    change("a", "2");
    clock.advance(5);
    turn();
    clock.advance(5);
    for (const call of calls) {
      expect(spans[0]).not.toHaveProperty("end");
      call.ack(call.next());
      clock.advance(5);
    }
    expect(spans).toEqual([
      {
        name: "xds change",
        start: 1_000,
        end: 1_015,
        events: ["1005 first push"],
        attributes: {
          "xdstp.revision": 4,
          "xdstp.types": [types.cluster],
          "xdstp.answers": 2,
          "xdstp.accepted": 2,
          "xdstp.rejected": 0,
          "xdstp.gone": 0,
          "xdstp.unanswered": 0,
        },
      },
    ]);
    change("b", "nobody wants it");
    turn();
    expect(spans).toHaveLength(1);
  });

  it(`tell of rejections, end with the last answer of any kind, and forget who has gone (${variant}) [S-ACK-9]`, () => {
    const { spans, change, clients, clock, turn } = setup();
    const [good, bad, leaving] = clients(variant, "good", "bad", "leaving");
    change("a", "2");
    turn();
    clock.advance(7);
    bad?.nack(bad.next(), "no such thing");
    good?.ack(good.next());
    expect(spans[0]).not.toHaveProperty("end");
    leaving?.cancel();
    change("nobody", "wants it");
    turn();
    expect(spans[0]?.events).toEqual(["0 first push", "7 nack bad no such thing"]);
    expect(spans[0]).toMatchObject({
      error: "1 rejected, 0 without an answer",
      attributes: { "xdstp.answers": 3, "xdstp.accepted": 1, "xdstp.rejected": 1, "xdstp.gone": 1 },
    });
  });

  it(`do not wait for a client that unsubscribes before the change was sent (${variant}) [S-ACK-9] [S-SUB-4]`, async () => {
    const { spans, change, clients, turn } = setup();
    const [call] = clients(variant, "one");
    change("a", "2");
    await Promise.resolve();
    call?.drop(types.cluster, ["a"]);
    turn();
    await Promise.resolve();
    expect(spans).toMatchObject([
      { end: 0, attributes: { "xdstp.accepted": 0, "xdstp.gone": 1, "xdstp.unanswered": 0 } },
    ]);
    expect(spans[0]).not.toHaveProperty("error");
  });

  it(`end after a time without answers, and with the server (${variant}) [S-ACK-9]`, async () => {
    const { spans, change, clients, clock, turn, server } = setup();
    clients(variant, "slow");
    change("a", "2");
    turn();
    clock.advance(29_999);
    expect(spans[0]).not.toHaveProperty("end");
    clock.advance(1);
    expect(spans[0]).toMatchObject({
      end: 30_000,
      error: "0 rejected, 1 without an answer",
      attributes: { "xdstp.unanswered": 1 },
    });
    change("a", "3");
    await Promise.resolve();
    const closing = server.close();
    turn();
    await closing;
    expect(spans.map(({ end }) => end !== undefined)).toEqual([true, true]);
  });

  it(`are bounded in number, and what is left out is counted (${variant}) [S-LIM-4]`, async () => {
    const { spans, change, clients, clock, turn } = setup();
    const [call] = clients(variant, "slow");
    for (let count = 0; count < 35; count++) {
      change("a", String(count));
      await Promise.resolve();
      turn();
    }
    expect(spans).toHaveLength(32);
    for (let answers = 0; answers < 2; answers++) {
      call?.ack(call.next());
      turn();
    }
    expect(spans.every(({ end }) => end === clock.now())).toBe(true);
    change("a", "last");
    turn();
    expect(spans.at(-1)?.attributes).toMatchObject({ "xdstp.untraced_changes": 3 });
  });

  it(`take what is committed in one go for one change, and follow nothing that is sampled out (${variant})`, () => {
    const once = setup();
    once.clients(variant, "one");
    once.change("a", "2");
    once.change("a", "3");
    once.turn();
    expect(once.spans).toMatchObject([{ attributes: { "xdstp.revision": 5 } }]);
    const out = setup(false);
    out.clients(variant, "one");
    out.change("a", "2");
    out.turn();
    expect(out.spans).toMatchObject([{ end: -1, events: [] }]);
  });
});
