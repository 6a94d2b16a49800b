import type { Topic } from "@xdstp/core";

import type { Found } from "./direct-walk.ts";
import { payloadOf } from "./names.ts";
import { shownOf, textOf } from "./shown.ts";
import type { Supply } from "./supply.ts";

/** What a walk finds, first; more where it depends on what has been before whether an alternative is in use. */
export type Expected = readonly (Found | { readonly state: "any" })[];

/** What is wrong with what a watch of one name shows. */
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

/** It leads nowhere, or may. */
export function isBroken(expected: Expected): boolean {
  return expected.some(({ state }) => state === "broken" || state === "any");
}

/** What may be shown. */
export function textsOf(typeUrl: string, expected: Expected): readonly (string | undefined)[] {
  return expected.map((found) =>
    found.state === "held" ? textOf(payloadOf(typeUrl, found.content).value) : undefined,
  );
}

/** Of an opaque name. */
export function plainOf(server: Supply, key: string): Found {
  const content = server.store.get(key)?.content;
  return content === undefined ? { state: "missing" } : { state: "held", content };
}
