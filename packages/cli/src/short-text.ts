import type { StreamInfo } from "@xdstp/protocol/server";

/** A version that is a hash: at least 128 bits in hexadecimal, or the 22 characters of 128 bits in base64url, as this stack makes them. To tell these from labels, at least two capitals and two small letters are required. */
const HASH = /^(?:[0-9a-f]{32,}|(?=.*[A-Z].*[A-Z])(?=.*[a-z].*[a-z])[\w-]{22})$/;

/** Returns the beginning of a version: 8 characters of a hash, which is enough for people to tell hashes apart, or 24 of another version. */
export function shortVersion(version: string): string {
  return version === "" ? "none" : escapeText(version).slice(0, HASH.test(version) ? 8 : 24);
}

/** Returns the node id of a client, or its address if it has no id. */
export function clientLabel({ node, peer }: Pick<StreamInfo, "node" | "peer">): string {
  const id = node?.id ?? "";
  return escapeText(id === "" ? peer : id);
}

/** Returns the first three names of a list, and the number of the others. */
export function someNames(names: readonly string[]): string {
  const shown = names
    .slice(0, 3)
    .map((name) => (name === "" ? "(empty)" : escapeText(name)))
    .join(", ");
  return names.length > 3 ? `${shown} and ${names.length - 3} more` : shown;
}

/** Returns a count with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Explains why names from a server are ignored, and how to receive them (C-AUTH-7). */
export function ignoredText(server: string, names: number): string {
  const [are, their, them] =
    names === 1 ? ["is", "its", "it by its own name"] : ["are", "their", "them by their own names"];
  return `${counted(names, "name")} from ${escapeText(server)} ${are} ignored: the configuration has another source for ${their} authority or type; subscribe to ${them}`;
}

/**
 * Returns untrusted text in a form that a terminal only displays. Control characters, format characters (which could reverse the direction of the line) and unassigned characters become escapes such as `\u{1b}` (S-ACK-15).
 * Each run of white space becomes one space, so the result is one line.
 */
export function escapeText(text: string): string {
  return text.replaceAll(/[\s\p{Z}]+/gu, " ").replaceAll(/\p{C}/gu, escaped);
}

/** Escapes the same characters in JSON text. The JSON keeps its meaning. */
export function escapeJson(json: string): string {
  return json.replaceAll(obeyed, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
    ).join(""),
  );
}

/** Escapes the same characters in texts in double quotes of YAML. */
export function escapeYaml(text: string): string {
  return text.replaceAll(obeyed, (character) => `\\U${hex(character).padStart(8, "0")}`);
}

/** Control and format characters, lone surrogates, and the separators of lines and paragraphs. A line feed is not one of them, since it only ends a line. */
const obeyed = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/gu;

function escaped(character: string): string {
  return `\\u{${hex(character)}}`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Returns a duration in its largest unit: `0s`, `59s`, `3m`, `2h`, `5d`. A negative duration is `0s`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
