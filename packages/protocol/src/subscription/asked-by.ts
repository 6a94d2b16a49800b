import { isGlob, nameKey } from "@xdstp/uri";
import type { Topic } from "@xdstp/core";

/**
 * Returns a function that is true for the names which one of these topics requests. The first
 * answer of the topics is due, so their names are sent in any case. A collection may cover any
 * name.
 */
export function askedBy(topics: Iterable<Topic>): (name: string) => boolean {
  const keys = new Set<string>();
  for (const topic of topics) {
    const { name } = topic.interest;
    if (name === "*" || isGlob(name)) return () => true;
    keys.add(nameKey(name));
    // The resource of an alias has another name.
    for (const entry of topic.members()) keys.add(nameKey(entry.name));
  }
  return (name) => keys.size > 0 && keys.has(nameKey(name));
}
