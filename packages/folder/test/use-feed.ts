import type { ResourceSink } from "@xdstp/core";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { onTestFinished } from "vitest";
import { createFolderFeed, type FolderEvent, type FolderFeedOptions } from "../src/index.ts";
import { createRecordingSink, type RecordingSink } from "./create-recording-sink.ts";

type EventOf<K extends FolderEvent["kind"]> = Extract<FolderEvent, { readonly kind: K }>;

/** A feed that runs until the end of the test. */
export interface FeedFixture {
  /** The sink of the feed, unless the test gave another one. */
  readonly sink: RecordingSink;
  readonly events: readonly FolderEvent[];
  /** Returns the next event of this kind that was not returned before. Other events before it are skipped. */
  readonly next: <K extends FolderEvent["kind"]>(kind: K) => Promise<EventOf<K>>;
  /** Stops the feed and waits for its end. */
  readonly stop: () => Promise<void>;
}

/** Runs a feed of a folder with a recording sink, or another one. */
export function useFeed(
  options: Omit<FolderFeedOptions, "registry" | "onEvent"> & { readonly sink?: ResourceSink },
): FeedFixture {
  const recording = createRecordingSink();
  const sink = options.sink ?? recording;
  const events: FolderEvent[] = [];
  let seen = 0;
  let wake = (): void => undefined;
  const abort = new AbortController();
  const onEvent = (event: FolderEvent): void => {
    events.push(event);
    wake();
  };
  const run = createFolderFeed({ ...options, registry: envoyRegistry(), onEvent }).run(
    sink,
    abort.signal,
  );
  const stop = async (): Promise<void> => {
    abort.abort();
    await run;
  };
  onTestFinished(stop);
  const next = async <K extends FolderEvent["kind"]>(kind: K): Promise<EventOf<K>> => {
    for (;;) {
      const event = events[seen];
      if (event === undefined)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      else if (seen++ >= 0 && event.kind === kind) return event as EventOf<K>;
    }
  };
  return { sink: recording, events, next, stop };
}
