import type { Span, SpanStatusCode, Tracer } from "@opentelemetry/api";
import { type Clock, type ResourceSource, type Timer } from "@xdstp/core";
import type { Scheduler } from "@xdstp/protocol/server";
import type { EventHub, ServerEvent } from "./server-event.ts";
import { followChange, type FollowedChange } from "./followed-change.ts";
import type { OpenStreams } from "./open-streams.ts";

/** What is traced, and how much of it. */
export interface TraceOptions {
  readonly tracer: Pick<Tracer, "startSpan">;
  readonly clock: Clock;
  readonly source: Pick<ResourceSource, "revision">;
  /** Spans that are open at one time; changes beyond are not traced, and counted. Default: 32. */
  readonly mostOpen?: number;
  /** Milliseconds after which a span ends with answers missing. Default: 30,000. */
  readonly limitMs?: number;
}

/** Traces of changes, before the first. */
export interface ChangeTraces {
  /** The same scheduler, by which commits are noticed: they wake streams, at once and in their own context. */
  noticing(scheduler: Scheduler): Scheduler;
  /** Follows the changes from now on; the answer ends the spans that are open. */
  follow(hub: EventHub, streams: Pick<OpenStreams, "all">): () => void;
}

/** Up to this number of rejections of one change are events of their own. */
const mostNacks = 10;
/** `SpanStatusCode.ERROR`, as a number. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- importing the enum would load the OpenTelemetry API in programs without a tracer
const ERROR: SpanStatusCode.ERROR = 2;

/**
 * One span `xds change` per change, from its commit to the last ACK or NACK of the streams that it concerned then, or until they have disconnected or the time is over.
 * What is committed in one go is one change. A span that is made in another one's context becomes its child.
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
  /** First revision of a change that is not looked at yet. */
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
  /** The wall time of the zero of `Clock.now()`, read once: a step of the wall clock must not reorder the events of a span. */
  readonly zeroTime: number;
  pushed: boolean;
}

function follow(
  { tracer, clock, source, mostOpen = 32, limitMs = 30_000 }: TraceOptions,
  notice: Notice,
  hub: EventHub,
  streams: Pick<OpenStreams, "all">,
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
  notice.begin = begin;
  const stop = hub.listen((event) => {
    if (event.kind === "push") noteCommit(notice, source, clock);
    begin();
    for (const traced of open) if (observe(traced, event, clock.now())) end(traced);
  });
  return () => {
    stop();
    notice.begin = () => undefined;
    for (const traced of open) end(traced);
  };
}

/** Whether it was the last answer. */
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
