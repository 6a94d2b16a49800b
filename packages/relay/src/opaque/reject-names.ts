import type { Interest, ResourceFeed, ResourceSink, XdsError } from "@xdstp/core";

/** Which names are not asked upstream, and why. */
export interface RejectedNames {
  /** Also asked of globs and `*`. */
  isRejected(name: string): boolean;
  why(typeUrl: string, name: string): XdsError;
  /** Told once per type and turn. */
  onRejected(typeUrl: string, names: readonly string[]): void;
}

type Updates = Parameters<NonNullable<ResourceFeed["want"]>>;

/**
 * The same feed, which is not asked for some names (B-RELAY-2). An exact name does not exist, for the reason given;
 * a collection stays pending, because an empty one would take from a client what it has.
 */
export function rejectNames(feed: ResourceFeed, names: RejectedNames): ResourceFeed {
  let sink: ResourceSink | undefined;
  let early: Updates[] = [];
  const reject = (typeUrl: string, rejected: readonly Interest[]): void => {
    if (rejected.length === 0) return;
    const exact = rejected.filter(({ name }) => name !== "*");
    if (exact.length > 0)
      void sink?.commit({
        remove: exact.map(({ name }) => ({ typeUrl, name, error: names.why(typeUrl, name) })),
      });
    names.onRejected(
      typeUrl,
      rejected.map(({ name }) => name),
    );
  };
  const want = (
    typeUrl: string,
    added: readonly Interest[],
    dropped: readonly Interest[],
  ): void => {
    const passed = [added, dropped].map((interests) =>
      interests.filter(({ name }) => !names.isRejected(name)),
    );
    const [begun = [], ended = []] = passed;
    if (begun.length + ended.length > 0) feed.want?.(typeUrl, begun, ended);
    reject(
      typeUrl,
      added.filter(({ name }) => names.isRejected(name)),
    );
  };
  return {
    async run(given, signal) {
      sink = given;
      const running = feed.run(given, signal);
      for (const updates of early) want(...updates);
      early = [];
      await running;
    },
    want(...updates) {
      if (sink === undefined) early.push(updates);
      else want(...updates);
    },
  };
}
