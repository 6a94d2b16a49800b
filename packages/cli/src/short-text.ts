import type { StreamInfo } from "@xdstp/protocol/server";
import { shortNameOf } from "@xdstp/resource-types";
import { escapeText } from "./escape-text.ts";

/** A type as people write it: `clusters`, or the full message name. */
export function shortType(typeUrl: string): string {
  return shortNameOf(typeUrl) ?? escapeText(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
}

/** 128 bits or more in hexadecimal, or, as our own versions are, 128 in base64url: capitals and small letters among 22. */
const HASH = /^(?:[0-9a-f]{32,}|(?=.*[A-Z].*[A-Z])(?=.*[a-z].*[a-z])[\w-]{22})$/;

/** The beginning of a version: of a hash, eight digits tell it apart for people. Labels of authors stay longer. */
export function shortVersion(version: string): string {
  return version === "" ? "none" : escapeText(version).slice(0, HASH.test(version) ? 8 : 24);
}

/** Who a client says it is, else where it comes from. */
export function clientLabel({ node, peer }: Pick<StreamInfo, "node" | "peer">): string {
  const id = node?.id ?? "";
  return escapeText(id === "" ? peer : id);
}

/** The first names of a list, and how many more there are. */
export function someNames(names: readonly string[]): string {
  const shown = names
    .slice(0, 3)
    .map((name) => (name === "" ? "(empty)" : escapeText(name)))
    .join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

/** A count with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Why names of a server are not shown, and the way to them (C-AUTH-7). */
export function ignoredText(server: string, names: number): string {
  const [are, their, them] =
    names === 1 ? ["is", "its", "it by its own name"] : ["are", "their", "them by their own names"];
  return `${counted(names, "name")} from ${escapeText(server)} ${are} ignored: the configuration has another source for ${their} authority or type; subscribe to ${them}`;
}
