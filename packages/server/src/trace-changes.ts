import type { Span, SpanStatusCode, Tracer } from "@opentelemetry/api";
import { type Clock, type ResourceSource, type Timer } from "@xdstp/core";
import type { Scheduler } from "@xdstp/protocol/server";
import type { EventHub, ServerEvent } from "./server-event.ts";
import { followChange, type FollowedChange } from "./followed-change.ts";
import type { OpenStreams } from "./open-streams.ts";

/** Options of {@link traceChanges}. */
export interface TraceOptions {
  readonly tracer: Pick<Tracer, "startSpan">;
  readonly clock: Clock;
  readonly source: Pick<ResourceSource, "revision">;
  /** The maximum number of open spans. Further changes are counted, but not traced. Default: 32. */
  readonly mostOpen?: number;
  /** Milliseconds after which a span ends even if answers are missing. Default: 30,000. */
  readonly limitMs?: number;
}

/** Creates spans for changes. */
export interface ChangeTraces {
  /**
   * Wraps a scheduler to notice commits: a commit wakes streams synchronously, in the context of
   * the commit.
   */
  noticing(scheduler: Scheduler): Scheduler;
  /** Follows the changes from now on. Returns a function that ends the open spans. */
  follow(hub: EventHub, streams: Pick<OpenStreams, "all" | "get">): () => void;
}

/** The maximum number of rejections of one change that are recorded as events. */
const mostNacks = 10;
/** `SpanStatusCode.ERROR`, as a number. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- importing the enum would load the OpenTelemetry API in programs without a tracer
const ERROR: SpanStatusCode.ERROR = 2;

/**
 * Creates one span `xds change` per change. It begins at the commit. It ends with the last ACK or
 * NACK of the streams that the change concerned, when these have disconnected, or after `limitMs`.
 * Commits without a pause between them are one change. A span that is created in the context of
 * another one becomes its child.
 */
export function traceChanges(options: TraceOptions): ChangeTraces {
  const { clock, source } = options;
  const notice: Notice = { seen: source.revision, from: undefined, at: 0, begin: () => undefined };
  return {
    noticing: (scheduler) => ({
      add(drainable) {
        noteCommit(notice, source, clock);
        scheduler.add(drainable);
      },
    }),
    follow: (hub, streams) => follow(options, notice, hub, streams),
  };
}

interface Notice {
  seen: number;
  /** The first revision of a change that was not followed yet. */
  from: number | undefined;
  at: number;
  begin: () => void;
}

function noteCommit(notice: Notice, { revision }: TraceOptions["source"], clock: Clock): void {
  if (revision <= notice.seen) return;
  notice.seen = revision;
  if (notice.from !== undefined) return;
  notice.from = revision;
  notice.at = clock.now();
  queueMicrotask(() => {
    notice.begin();
  });
}

interface Traced {
  readonly span: Span;
  readonly change: FollowedChange;
  readonly timer: Timer;
  /**
   * The wall time at the zero of `Clock.now()`. It is read once per span, so that a step of the
   * wall clock does not reorder the events of a span.
   */
  readonly zeroTime: number;
  pushed: boolean;
}

function follow(
  { tracer, clock, source, mostOpen = 32, limitMs = 30_000 }: TraceOptions,
  notice: Notice,
  hub: EventHub,
  streams: Pick<OpenStreams, "all" | "get">,
): () => void {
  const open = new Set<Traced>();
  let missed = 0;
  const end = (traced: Traced): void => {
    open.delete(traced);
    traced.timer.cancel();
    endSpan(traced, clock.now());
  };
  const begin = (): void => {
    const { from } = notice;
    notice.from = undefined;
    if (from === undefined) return;
    if (open.size >= mostOpen) {
      missed++;
      return;
    }
    const change = followChange(streams, from);
    if (change.open === 0) return;
    const attributes = {
      "xdstp.revision": source.revision,
      "xdstp.types": [...change.typeUrls],
      "xdstp.answers": change.open,
      ...(missed > 0 && { "xdstp.untraced_changes": missed }),
    };
    const zeroTime = clock.wallTime() - clock.now();
    const span = tracer.startSpan("xds change", {
      startTime: new Date(zeroTime + notice.at),
      attributes,
    });
    missed = 0;
    if (!span.isRecording()) {
      span.end();
      return;
    }
    const traced: Traced = {
      span,
      change,
      zeroTime,
      pushed: false,
      timer: clock.after(limitMs, () => {
        end(traced);
      }),
    };
    open.add(traced);
  };
  const forgetUnsubscribed = (id: number): void => {
    const stream = streams.get(id);
    if (stream === undefined) return;
    for (const traced of open) {
      traced.change.forgetUnsubscribed(stream);
      if (traced.change.open === 0) end(traced);
    }
  };
  notice.begin = begin;
  const stop = hub.listen((event) => {
    if (event.kind === "push") noteCommit(notice, source, clock);
    begin();
    for (const traced of open) if (observe(traced, event, clock.now())) end(traced);
    // An event is emitted before the stream has acted on it.
    if (event.kind === "subscribe" && open.size > 0)
      queueMicrotask(() => {
        forgetUnsubscribed(event.stream.id);
      });
  });
  return () => {
    stop();
    notice.begin = () => undefined;
    for (const traced of open) end(traced);
  };
}

/** Returns true if the event was the last answer. */
function observe(traced: Traced, event: ServerEvent, now: number): boolean {
  const { span, change, zeroTime } = traced;
  const before = change.rejected;
  const answer = change.observe(event);
  if (!traced.pushed && (answer === "push" || change.accepted > 0)) {
    traced.pushed = true;
    span.addEvent("first push", new Date(zeroTime + now));
  }
  if (event.kind === "nack" && change.rejected > before && change.rejected <= mostNacks) {
    const {
      stream: { node, peer },
      typeUrl,
      version,
      error,
    } = event;
    span.addEvent(
      "nack",
      {
        "xdstp.client": node?.id ?? "",
        "xdstp.peer": peer,
        "xdstp.type": typeUrl,
        "xdstp.version": version,
        "xdstp.reason": error.message,
      },
      new Date(zeroTime + now),
    );
  }
  return change.open === 0;
}

function endSpan(
  { span, zeroTime, change: { accepted, rejected, gone, open } }: Traced,
  now: number,
): void {
  span.setAttributes({
    "xdstp.accepted": accepted,
    "xdstp.rejected": rejected,
    "xdstp.gone": gone,
    "xdstp.unanswered": open,
  });
  if (rejected + open > 0)
    span.setStatus({ code: ERROR, message: `${rejected} rejected, ${open} without an answer` });
  span.end(new Date(zeroTime + now));
}
