import type { Reference } from "@xdstp/core";
import { shortNameOf } from "@xdstp/resource-types";
import type { FolderEntry } from "./folder-entry.ts";
import { type FolderProblem, quote } from "./folder-problem.ts";
import { keyOf } from "./resource-references.ts";

/** The types whose resources clients request only if something refers to them. */
const onDemand: ReadonlySet<string | undefined> = new Set(["endpoints", "routes", "secrets"]);

const none: readonly number[] = [];

/** Returns how a resource takes part in references, as hashes of type and name. A hash is a number without an object of its own, so that 100,000 references take 6 MB. Two names with one hash lose a warning at most. */
export function usageOf(
  typeUrl: string,
  names: readonly string[],
  references: readonly Reference[],
): Pick<FolderEntry, "keys" | "uses"> {
  const uses = references.filter((one) => onDemand.has(shortNameOf(one.typeUrl)));
  // An xdstp name may be requested because of a reference elsewhere.
  const isOnDemand = onDemand.has(shortNameOf(typeUrl)) && names[0]?.startsWith("xdstp:") === false;
  const keys = isOnDemand ? names.map((name) => hashOf(keyOf(typeUrl, name))) : none;
  return {
    ...(keys.length > 0 && { keys: keys.length === 1 ? (keys[0] ?? 0) : keys }),
    uses:
      uses.length === 0
        ? none
        : [...new Set(uses.map((one) => hashOf(keyOf(one.typeUrl, one.name))))],
  };
}

/** Returns the FNV-1a hash of a text in 31 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 1;
}

/** Returns the opaque names without references as warnings, since no client will request them. */
export function unusedResources(entries: readonly FolderEntry[]): readonly FolderProblem[] {
  const used = new Set<number>();
  for (const { uses } of entries) for (const one of uses) used.add(one);
  return entries
    .filter(({ keys }) =>
      typeof keys === "number" ? !used.has(keys) : keys?.every((key) => !used.has(key)),
    )
    .map(({ file, typeUrl, name }) => ({
      file,
      code: "unused-resource",
      message: `nothing refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}`,
      hint: "remove it, unless a client requests it by this name",
    }));
}
