import type { Clock, Timer } from "@xdstp/core";
import type { ServerEvent } from "@xdstp/server";
import type { CliEvent, Served } from "./cli-event.ts";
import { describeEvent } from "./describe-event.ts";
import { type RecentLine, renderScreen } from "./render-screen.ts";
import type { Reporter, ReporterOptions, ReportLine } from "./reporter.ts";
import { createPaint, leaveScreen, redraw, takeScreen } from "./style.ts";
import { escapeText } from "./short-text.ts";

/** The shortest time between two drawings. A tenth of a millisecond is added for each stream, since drawing takes time that streams need. */
const pauseMs = 250;
/** The interval of drawings without events, since the ages of rows change. */
const tickMs = 1_000;
/** `live`: the smallest number of last events that are kept. `atEnd`: the number of events that stay on the terminal at the end. */
const kept = { live: 100, atEnd: 10 };

/** Creates a reporter with a live table. `close` restores the terminal and writes the last events on it. */
export function createTableReporter({
  from,
  what,
  address,
  tls,
  held,
  server,
  upstreams,
  rejections,
  io,
}: ReporterOptions): Reporter {
  const { stdout, clock, env } = io;
  const paint = createPaint(env);
  const since = createSinceBook();
  const recent: { readonly shown: CliEvent; readonly time: number }[] = [];
  let troubles: readonly ReportLine[] = [];
  const lines = (count: number): readonly RecentLine[] =>
    recent
      .slice(-count)
      .flatMap(({ shown, time }) => describeEvent(shown).map((line) => ({ ...line, time })));
  const pacer = createPacer(clock, () => {
    const size = io.terminal() ?? { columns: 80, rows: 24 };
    const status = server.status();
    const view = {
      title: `${from} ${servedText(what)}`,
      address,
      tls,
      ...held(),
      now: clock.wallTime(),
      status,
      since: since.of,
      troubles,
      upstreams: upstreams?.(),
      rejections: rejections?.(),
      recent: lines(size.rows),
    };
    stdout.write(redraw(renderScreen(view, size, paint)));
    return status.length;
  });
  stdout.write(takeScreen);
  return {
    event(shown) {
      const time = clock.wallTime();
      if (shown.from === "server") since.note(shown.event, time);
      troubles = troublesAfter(shown, troubles);
      recent.push({ shown, time });
      if (recent.length > 2 * kept.live) recent.splice(0, kept.live);
      pacer.touch();
    },
    close() {
      pacer.stop();
      stdout.write(leaveScreen);
      for (const { label, text, time } of lines(kept.atEnd))
        stdout.write(`${new Date(time).toISOString()} ${label.padEnd(11)} ${text}\n`);
    },
  };
}

/** Returns the problems on the screen after an event. A problem stays until it is fixed. */
function troublesAfter(shown: CliEvent, before: readonly ReportLine[]): readonly ReportLine[] {
  if (shown.from === "cache")
    return shown.event.kind === "feed-failed" ? describeEvent(shown) : before;
  if (shown.from !== "folder") return before;
  if (shown.event.kind === "loaded") return [];
  return ["rejected", "kept", "unreadable"].includes(shown.event.kind)
    ? describeEvent(shown)
    : before;
}

interface Pacer {
  /** Draws soon, because the state has changed. */
  touch(): void;
  stop(): void;
}

/** Draws soon after a change, but never more often than {@link pauseMs} allows, and once a second without a change. `draw` returns the number of streams. */
function createPacer(clock: Clock, draw: () => number): Pacer {
  let timer: Timer | undefined;
  let isTouched = false;
  let extra = 0;
  const drawAfter = (ms: number): void => {
    timer?.cancel();
    timer = clock.after(ms, () => {
      isTouched = false;
      extra = Math.floor(draw() / 10);
      drawAfter(tickMs + extra);
    });
  };
  drawAfter(0);
  return {
    touch() {
      if (isTouched) return;
      isTouched = true;
      drawAfter(pauseMs + extra);
    },
    stop: () => {
      timer?.cancel();
    },
  };
}

/** Returns the source of the resources, escaped: the folder, or the bootstrap or option that configures the servers. */
function servedText(what: Served): string {
  return escapeText("dir" in what ? what.dir : what.by);
}

/** The times of the last event of each stream and type, from which the table computes ages. */
interface SinceBook {
  note(event: ServerEvent, time: number): void;
  /** Returns the time in milliseconds since the epoch. `undefined`: there was no event yet. */
  readonly of: (stream: number, typeUrl: string) => number | undefined;
}

/** Creates an empty book. Streams that have ended are removed. */
export function createSinceBook(): SinceBook {
  const streams = new Map<number, Map<string, number>>();
  return {
    note(event, time) {
      if (!("stream" in event)) return;
      const { id } = event.stream;
      if (event.kind === "connect") streams.set(id, new Map());
      else if (event.kind === "disconnect") streams.delete(id);
      else if ("typeUrl" in event) streams.get(id)?.set(event.typeUrl, time);
    },
    of: (stream, typeUrl) => streams.get(stream)?.get(typeUrl),
  };
}
