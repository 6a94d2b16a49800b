import { forwardSource, type ResourceSource, type Topic } from "@xdstp/core";

/** The same source, which notes each topic that is asked of it. */
export function recordingSource(
  source: ResourceSource,
  onTopic: (topic: Topic) => void,
): ResourceSource {
  return forwardSource(source, {
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      onTopic(topic);
      return topic;
    },
  });
}
