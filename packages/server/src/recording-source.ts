import type { ResourceSource, Topic } from "@xdstp/core";

/** The same source, which notes each topic that is asked of it. */
export function recordingSource(
  source: ResourceSource,
  onTopic: (topic: Topic) => void,
): ResourceSource {
  return {
    get revision() {
      return source.revision;
    },
    get ready() {
      return source.ready;
    },
    ...(source.authorities === undefined ? {} : { authorities: source.authorities }),
    descriptor: (typeUrl) => source.descriptor(typeUrl),
    serves: (typeUrl) => source.serves(typeUrl),
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      onTopic(topic);
      return topic;
    },
  };
}
