import { forwardSource, type ResourceSource } from "@xdstp/core";

import { ClientTopic, type Reader } from "./client-topic.ts";

/** A source as one stream of a client sees it: topics of a quorum are its own, so that it may see first. All else is that of the source. */
export function readerView(source: ResourceSource, client: string): ResourceSource {
  const reader: Reader = { client };
  return forwardSource(source, {
    viewOf: source.viewOf ?? source,
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      return topic instanceof ClientTopic ? topic.group.topicFor(reader) : topic;
    },
  });
}
