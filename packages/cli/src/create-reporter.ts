import type { Clock, Timer } from "@xdstp/core";
import { createLineReporter } from "./line-reporter.ts";
import type { Reporter, ReporterOptions } from "./reporter.ts";
import { createTableReporter } from "./table-reporter.ts";
import type { CliEvent } from "./cli-event.ts";

/** A live table on a terminal; lines elsewhere, and with JSON. */
export function createReporter(options: ReporterOptions): Reporter {
  const {
    io,
    io: { stdout, clock },
    json,
    onLinesLost,
  } = options;
  // The table does not have a line for an event on a stream. Such an event draws the table again, at most four times a second.
  const reporter =
    json || io.terminal() === undefined
      ? createCalmReporter(createLineReporter({ output: stdout, clock, json, onLinesLost }), clock)
      : createCalmReporter(createTableReporter(options), clock, Infinity);
  return {
    event: (shown) => {
      if (isShown(shown, json)) reporter.event(shown);
    },
    close: () => {
      reporter.close();
    },
  };
}

/** Events that repeat others: a connection has streams, and each stream reports its own begin and end. */
const repeated: ReadonlySet<string> = new Set([
  "connection-opened",
  "connection-closed",
  "stream-opened",
  "stream-closed",
]);

/** Events that only `--json` shows. Each stream and type has several heartbeats in a TTL, and they change nothing. What is rejected is in a NACK, and by resource in the table of a relay. */
const forPrograms: ReadonlySet<string> = new Set(["heartbeat", "resource-rejected"]);

/** Whether an event is shown at all, to people or to programs. */
export function isShown({ from, event }: CliEvent, json: boolean): boolean {
  return !(from === "server" && repeated.has(event.kind)) && (json || !forPrograms.has(event.kind));
}

/** Number of kinds of events of one peer in one second that are counted separately. Further kinds count together for all peers. */
const mostKeys = 1_000;
const periodMs = 1_000;
/** References to what is not served that one second shows: a change of 20,000 resources may break as many. */
const mostReferences = 20;
/** Default number of events of one kind on the streams of one peer that are shown per second. It is large because each stream has several events, and many clients may share an address. */
const mostStreamLines = 100;

interface Flood {
  /** Events that are shown in one second. */
  readonly most: number;
  shown: number;
  /** The newest event that was not shown. */
  last: CliEvent;
  more: number;
}

/**
 * A reporter in front of another one. Of what one peer causes, events of the same kind and reason are shown once a second, the second time with their number.
 * Events on the streams of one peer are shown up to 100 of each kind per second, and then one event has the number of the others.
 * Of references to what is not served, 20 are shown per second, and then one with the number of the others.
 *
 * @param mostOfStreams - Number of events of one kind on the streams of one peer that are shown per second. Default: 100
 */
export function createCalmReporter(
  reporter: Reporter,
  clock: Clock,
  mostOfStreams: number = mostStreamLines,
): Reporter {
  const floods = new Map<string, Flood>();
  let timer: Timer | undefined;
  const flush = (): void => {
    timer = undefined;
    const ended = [...floods.values()];
    floods.clear();
    for (const { last, more } of ended)
      if (more > 0) reporter.event(more === 1 ? last : { ...last, more: more - 1 });
  };
  return {
    event(shown) {
      const kind = floodKind(shown, mostOfStreams);
      if (kind === undefined) {
        reporter.event(shown);
        return;
      }
      const { key, most } = kind;
      const counted = floods.has(key) || floods.size < mostKeys ? key : "all peers";
      const flood = floods.get(counted) ?? {
        most,
        shown: 0,
        last: shown,
        more: 0,
      };
      if (flood.shown === flood.most) {
        flood.last = shown;
        flood.more += 1;
        return;
      }
      flood.shown += 1;
      floods.set(counted, flood);
      timer ??= clock.after(periodMs, flush);
      reporter.event(shown);
    },
    close() {
      timer?.cancel();
      flush();
      reporter.close();
    },
  };
}

function isOfReferences({ from, event }: CliEvent): boolean {
  return from === "cache" && (event.kind === "dangling" || event.kind === "resolved");
}

/** A kind of events that are counted together, and the number of them that are shown per second. */
interface FloodKind {
  readonly key: string;
  readonly most: number;
}

/** Returns the kind that an event is counted with: events of one kind from one peer, or references of one kind. `undefined`: every event is shown. */
function floodKind(shown: CliEvent, mostOfStreams: number): FloodKind | undefined {
  const { from, event, worker } = shown;
  if (isOfReferences(shown)) return { key: event.kind, most: mostReferences };
  if (from !== "server") return undefined;
  const reason = "reason" in event ? event.reason : "";
  if ("peer" in event)
    return { key: keyOf({ worker, kind: event.kind, peer: event.peer, reason }), most: 1 };
  if ("stream" in event)
    return {
      key: keyOf({ worker, kind: event.kind, peer: event.stream.peer, reason }),
      most: mostOfStreams,
    };
  return undefined;
}

/** Returns the key of a kind of events. All ports of an address are one peer. */
function keyOf(facts: {
  readonly worker: number | undefined;
  readonly kind: string;
  readonly peer: string;
  readonly reason: string | undefined;
}): string {
  return `${facts.worker ?? ""} ${facts.kind} ${facts.peer.replace(/:\d+$/, "")} ${facts.reason ?? ""}`;
}
