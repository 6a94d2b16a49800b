import type { HeldBackName, MissingReference } from "@xdstp/protocol/server";
import { escapeText } from "./escape-text.ts";
import { shortType } from "./short-text.ts";
import { shortNameOf } from "@xdstp/resource-types";

const reasons: Readonly<Record<HeldBackName["why"], string>> = {
  rejected: "which is rejected",
  unaccepted: "which is not accepted yet",
  cold: "which has no endpoints yet",
};

/** `cluster` for `clusters`. */
function singular(typeUrl: string): string {
  return shortNameOf(typeUrl)?.replace(/s$/, "") ?? shortType(typeUrl);
}

/** `r waits for cluster apii, which is not accepted yet`. */
export function describeWait({ name, for: other, typeUrl, why }: HeldBackName): string {
  return `${escapeText(name)} waits for ${singular(typeUrl)} ${escapeText(other)}, ${reasons[why]}`;
}

/** `l refers to cluster apii, which is not served`. */
export function describeMissing({ name, for: other, typeUrl }: MissingReference): string {
  return `${escapeText(name)} refers to ${singular(typeUrl)} ${escapeText(other)}, which is not served`;
}
