import type { Topic } from "@xdstp/core";

import type { Found } from "./direct-walk.ts";
import { payloadOf } from "./names.ts";
import { shownOf, textOf } from "./shown.ts";
import type { Supply } from "./supply.ts";

/**
 * The result of a walk. Further results are possible if the use of an alternative depends on the
 * history.
 */
export type Expected = readonly (Found | { readonly state: "any" })[];

/** Returns the difference between a watch of one name and the expected results. */
export function differenceOf(
  { name }: { readonly name: string },
  topic: Topic,
  expected: Expected,
  typeUrl: string,
): readonly string[] {
  const [entry] = topic.members();
  const text = entry === undefined ? undefined : shownOf(entry);
  const error = topic.stale ?? entry?.error;
  const texts = textsOf(typeUrl, expected);
  if (expected.some(({ state }) => state === "any")) return [];
  if (isBroken(expected))
    return error !== undefined || texts.includes(text)
      ? []
      : [`${name} is broken, and shows ${text ?? "nothing"} without an error`];
  if (!texts.includes(text))
    return [
      `${name} is ${text ?? "nothing"}, and should be ${texts[0] ?? "nothing"}${error === undefined ? "" : ` (${error.text})`}`,
    ];
  if (!topic.settled) return [`${name} is not settled`];
  return topic.stale === undefined
    ? []
    : [
        `${name} is ${text ?? "nothing"}, as it should be, and is called stale: ${topic.stale.text}`,
      ];
}

/** Returns true if the name leads nowhere, or may do so. */
export function isBroken(expected: Expected): boolean {
  return expected.some(({ state }) => state === "broken" || state === "any");
}

/** Returns the texts that may be shown. */
export function textsOf(typeUrl: string, expected: Expected): readonly (string | undefined)[] {
  return expected.map((found) =>
    found.state === "held" ? textOf(payloadOf(typeUrl, found.content).value) : undefined,
  );
}

/** Returns the result for an opaque name. */
export function plainOf(server: Supply, key: string): Found {
  const content = server.store.get(key)?.content;
  return content === undefined ? { state: "missing" } : { state: "held", content };
}
