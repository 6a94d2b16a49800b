import { isGlob, nameKey } from "@xdstp/uri";
import type { Topic } from "@xdstp/core";

/** Whether a name is requested by one of these topics, whose answer is due: requested names are sent in any case. A collection may cover any name. */
export function askedBy(topics: Iterable<Topic>): (name: string) => boolean {
  const keys = new Set<string>();
  for (const topic of topics) {
    const { name } = topic.interest;
    if (name === "*" || isGlob(name)) return () => true;
    keys.add(nameKey(name));
    // By an alias, it is another name.
    for (const entry of topic.members()) keys.add(nameKey(entry.name));
  }
  return (name) => keys.size > 0 && keys.has(nameKey(name));
}
