import type { Interest, ResourceFeed, ResourceSink, Scope, XdsError } from "@xdstp/core";

/** The names that are not requested upstream, and the reason. */
export interface RejectedNames {
  /** Returns true for a rejected name. It is also called for globs and `*`. */
  isRejected(name: string): boolean;
  why(typeUrl: string, name: string): XdsError;
  /** The names that are rejected, and why. Globs and `*` stay pending, and show this reason. */
  readonly outage: { readonly scope: Scope; readonly error: XdsError };
  /** Called once per type and turn. */
  onRejected(typeUrl: string, names: readonly string[]): void;
}

type Updates = Parameters<NonNullable<ResourceFeed["want"]>>;

/**
 * Wraps a feed that is not asked for some names (B-RELAY-2). An exact name does not exist, with the
 * reason.
 * A collection stays pending, because an empty one would remove the resources of a client.
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
      // A place of its own: what the feed reports of its servers does not end this.
      (given.part?.() ?? given).unavailable(names.outage.scope, names.outage.error);
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
