import { shortNameOf } from "@xdstp/resource-types";
import { escapeText } from "./short-text.ts";

/** Returns the short name of a type, such as `clusters`, or its full message name if it does not have one. */
export function shortType(typeUrl: string): string {
  return shortNameOf(typeUrl) ?? escapeText(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
}
