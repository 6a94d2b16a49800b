import type { ResourceSource, Topic } from "@xdstp/core";

import { around } from "./around.ts";
import type { Defect } from "./defect.ts";

/** A server that never lets go of what a client has once wanted. */
export const keepTopics: Defect = {
  source(cache) {
    const topics = new WeakMap<Topic, Topic>();
    return around(cache, {
      topic: (typeUrl: string, interest: Topic["interest"]) => {
        const topic = cache.topic(typeUrl, interest);
        const known = topics.get(topic) ?? around(topic, { unwatch: () => undefined });
        topics.set(topic, known);
        return known;
      },
    } satisfies Partial<ResourceSource>);
  },
};
