import type { Interest, ResourceFeed, ResourceSink, XdsError } from "@xdstp/core";

/** Which names are not asked upstream, and why. */
export interface RefusedNames {
  /** Also asked of globs and `*`. */
  isRefused(name: string): boolean;
  why(typeUrl: string, name: string): XdsError;
  /** Told once per type and turn. */
  onRefused(typeUrl: string, names: readonly string[]): void;
}

type News = Parameters<NonNullable<ResourceFeed["want"]>>;

/**
 * The same feed, which is not asked for some names (B-RELAY-2). An exact name does not exist, for the reason given;
 * a collection stays pending, because an empty one would take from a client what it has.
 */
export function refuseNames(feed: ResourceFeed, names: RefusedNames): ResourceFeed {
  let sink: ResourceSink | undefined;
  let early: News[] = [];
  const refuse = (typeUrl: string, refused: readonly Interest[]): void => {
    if (refused.length === 0) return;
    const exact = refused.filter(({ name }) => name !== "*");
    if (exact.length > 0)
      void sink?.commit({
        remove: exact.map(({ name }) => ({ typeUrl, name, error: names.why(typeUrl, name) })),
      });
    names.onRefused(
      typeUrl,
      refused.map(({ name }) => name),
    );
  };
  const want = (
    typeUrl: string,
    added: readonly Interest[],
    dropped: readonly Interest[],
  ): void => {
    const passed = [added, dropped].map((interests) =>
      interests.filter(({ name }) => !names.isRefused(name)),
    );
    const [begun = [], ended = []] = passed;
    if (begun.length + ended.length > 0) feed.want?.(typeUrl, begun, ended);
    refuse(
      typeUrl,
      added.filter(({ name }) => names.isRefused(name)),
    );
  };
  return {
    async run(given, signal) {
      sink = given;
      const running = feed.run(given, signal);
      for (const news of early) want(...news);
      early = [];
      await running;
    },
    want(...news) {
      if (sink === undefined) early.push(news);
      else want(...news);
    },
  };
}
