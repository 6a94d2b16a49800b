import type { Clock, Timer } from "@xdstp/core";
import { createLineReporter } from "./line-reporter.ts";
import type { Reporter, ReporterOptions } from "./reporter.ts";
import { createTableReporter } from "./table-reporter.ts";
import type { CliEvent } from "./cli-event.ts";

/** Creates the reporter of a command: a live table on a terminal, lines elsewhere and with `--json`. */
export function createReporter(options: ReporterOptions): Reporter {
  const {
    io,
    io: { stdout, clock },
    json,
    onLinesLost,
  } = options;
  // The table has no lines for single events. Each event only redraws it, at most four times a second, so events on streams need no limit.
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

/** Server events that other events repeat: a connection has streams, and each stream reports its own start and end. */
const repeated: ReadonlySet<string> = new Set([
  "connection-opened",
  "connection-closed",
  "stream-opened",
  "stream-closed",
]);

/** Events that only `--json` shows. Each stream and type has several heartbeats per TTL, and they change nothing. Rejected resources are also in a NACK event, and in the table of a relay. */
const forPrograms: ReadonlySet<string> = new Set(["heartbeat", "resource-rejected"]);

/** Returns true if an event is shown. Some events are shown only with `--json`, some never. */
export function isShown({ from, event }: CliEvent, json: boolean): boolean {
  return !(from === "server" && repeated.has(event.kind)) && (json || !forPrograms.has(event.kind));
}

/** The number of kinds of events that are counted separately within one second. Further kinds of all peers are counted together. */
const mostKeys = 1_000;
const periodMs = 1_000;
/** The number of references to missing resources that are shown per second. A change of 20,000 resources may break as many references. */
const mostReferences = 20;
/** Default number of events of one kind that are shown per second, on all streams of one peer. It is large because each stream has several events, and many clients may share an address. */
const mostStreamLines = 100;

interface Flood {
  /** The number of events that are shown within one second. */
  readonly most: number;
  shown: number;
  /** The newest event that was not shown. */
  last: CliEvent;
  more: number;
}

/**
 * Creates a reporter that limits the events that it passes on. What it does not pass on within a second is added as a number (`more`) to one event at the end of this second.
 * - Server events about a peer: one of each kind and reason per second and peer.
 * - Server events on streams: `mostOfStreams` of each kind and reason per second and peer.
 * - References to missing resources, and resources whose flags are rejected: 20 of each kind per second.
 *
 * @param mostOfStreams - The number of events of one kind on the streams of one peer that are shown per second. Default: 100
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

/** Returns true for events about single resources, of which one change may cause as many. */
function isOfResources({ event }: CliEvent): boolean {
  return ["dangling", "resolved", "flags-rejected"].includes(event.kind);
}

/** A kind of events that are counted together, and the number of them that are shown per second. */
interface FloodKind {
  readonly key: string;
  readonly most: number;
}

/** Returns the kind that an event is counted with, or `undefined` if every such event is shown. */
function floodKind(shown: CliEvent, mostOfStreams: number): FloodKind | undefined {
  const { from, event, worker } = shown;
  if (isOfResources(shown)) return { key: event.kind, most: mostReferences };
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
