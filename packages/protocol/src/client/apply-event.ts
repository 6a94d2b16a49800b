import type { ResourceSink, Transaction } from "@xdstp/core";
import type { CachedReader } from "./cached.ts";
import type { ClientContext } from "./client-context.ts";
import {
  changeCollection,
  changeName,
  type CollectionEvent,
  type NameEvent,
  type Wanted,
  type WantedCollection,
  type WantedEvent,
  type WantedName,
} from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

/**
 * The parts that a conclusion may change: the states of subscribed interests, by events, and the sink.
 * Conclusions are drawn from a response, a deadline and an idle collection only; each has one
 * function, in `conclude.ts` or `conclude-collection.ts`.
 */
export interface ConcludeSource extends CachedReader {
  readonly context: ClientContext;
  readonly wants: WantedIndex;
  readonly sink: ResourceSink;
  /**
   * When the stream began, by `Clock.now()`. undefined: nothing can be concluded from a server that
   * sends nothing ({@link ClientVariant.silenceConfirms}).
   */
  readonly confirmsSince: number | undefined;
}

/** Notes that the server knows the cached state and has sent nothing else in time. */
export function confirm(source: ConcludeSource, wanted: Wanted): void {
  if (source.confirmsSince !== undefined)
    applyEvent(source, wanted, { kind: "confirmed", since: source.confirmsSince });
}

/**
 * Applies an event. If that changes the error of the interest, or ends it, reports it to the sink.
 */
export function applyEvent(source: ConcludeSource, wanted: Wanted, event: WantedEvent): void {
  if (wanted.kind === "name") applyToName(source, wanted, event);
  else applyToCollection(source, wanted, event);
}

/** Applies an event to a name, as {@link applyEvent} does. */
export function applyToName(source: ConcludeSource, wanted: WantedName, event: NameEvent): void {
  const before = wanted.state.known.reports;
  changeName(wanted, event);
  report(source, wanted, before);
}

/** Applies an event to a collection, as {@link applyEvent} does. */
export function applyToCollection(
  source: ConcludeSource,
  wanted: WantedCollection,
  event: CollectionEvent,
): void {
  const before = wanted.state.known.reports;
  changeCollection(wanted, event);
  report(source, wanted, before);
}

function report(
  { sink, typeUrl }: ConcludeSource,
  { interest, state }: Wanted,
  before: number,
): void {
  const { error, reports } = state.known;
  if (reports !== before) sink.unavailable({ typeUrl, interest }, error);
}

/**
 * Commits a transaction that does not belong to a response. Its result is not sent to a server:
 * neither rejections nor the failure of a sink.
 */
export function commitAside(sink: ResourceSink, transaction: Transaction): void {
  try {
    sink.commit(transaction).decided?.catch(() => undefined);
  } catch {
    // The server is not informed of a failure: see above.
  }
}
