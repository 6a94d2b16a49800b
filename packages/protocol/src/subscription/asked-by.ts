import { isGlob, nameKey } from "@xdstp/uri";
import type { Topic } from "@xdstp/core";

/** Whether a name is asked for by one of these topics, whose answer is due: what is asked for is said in any case. A collection may ask for anything. */
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
