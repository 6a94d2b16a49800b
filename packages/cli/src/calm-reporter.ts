import type { Clock, Timer } from "@xdstp/core";
import type { CliEvent } from "./cli-event.ts";
import type { Reporter } from "./reporter.ts";

/** Kinds of events by one peer in one second that are told apart. Beyond them those of all peers count together. */
const mostKeys = 1_000;
const periodMs = 1_000;

interface Flood {
  /** The newest event that was not shown. */
  last: CliEvent;
  more: number;
}

/** A reporter in front of another one: of what one peer causes, events of the same kind and reason are shown once a second, the second time with their number. */
export function createCalmReporter(reporter: Reporter, clock: Clock): Reporter {
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
      const key = floodKey(shown);
      if (key === undefined) {
        reporter.event(shown);
        return;
      }
      const counted = floods.has(key) || floods.size < mostKeys ? key : "all peers";
      const known = floods.get(counted);
      if (known !== undefined) {
        known.last = shown;
        known.more += 1;
        return;
      }
      floods.set(counted, { last: shown, more: 0 });
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

/** What a peer can cause as often as it likes. A stream that is open is bounded by its rate. undefined: all of it is shown. */
function floodKey({ from, event, worker }: CliEvent): string | undefined {
  if (from !== "server" || !("peer" in event)) return undefined;
  const host = event.peer.replace(/:\d+$/, "");
  return `${worker ?? ""} ${event.kind} ${host} ${"reason" in event ? event.reason : ""}`;
}
