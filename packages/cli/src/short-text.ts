import type { StreamInfo } from "@xdstp/protocol/server";
import { shortNameOf } from "@xdstp/resource-types";

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

/**
 * Text of a stranger in a form that a terminal only shows: control characters, format characters (which could turn the direction of the line around) and what no font has become `\u{1b}` (S-ACK-15).
 * Spaces and tabs of any kind become one space, so that the answer is one line.
 */
export function escapeText(text: string): string {
  return text.replaceAll(/[\s\p{Z}]+/gu, " ").replaceAll(/\p{C}/gu, escaped);
}

/** The same for JSON that is already written: what a terminal could take for a command is escaped, and the JSON means the same. */
export function escapeJson(json: string): string {
  return json.replaceAll(obeyed, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** The same for texts in double quotes of YAML. */
export function escapeYaml(text: string): string {
  return text.replaceAll(obeyed, (character) => `\\U${hex(character).padStart(8, "0")}`);
}

/** Control and format characters, halves of pairs, and the separators of lines and paragraphs; a line feed only ends a line. */
const obeyed = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return `\\u{${hex(character)}}`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** How long something lasts, in its largest unit: `0s`, `59s`, `3m`, `2h`, `5d`. Less than nothing is nothing. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
