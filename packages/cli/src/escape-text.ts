/**
 * Text of a stranger in a form that a terminal only shows: control characters, format characters (which could turn the direction of the line around) and what no font has become `\u{1b}` (S-ACK-15).
 * Spaces and tabs of any kind become one space, so that the answer is one line.
 */
export function escapeText(text: string): string {
  return text.replaceAll(/[\s\p{Z}]+/gu, " ").replaceAll(/\p{C}/gu, escaped);
}

/** The same for JSON that is already written: what a terminal could take for a command is escaped, and the JSON means the same. */
export function escapeJson(json: string): string {
  return json.replaceAll(obeyed, (character) => Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`).join(""));
}

/** The same for texts in double quotes of YAML. */
export function escapeYaml(text: string): string {
  return text.replaceAll(obeyed, (character) => `\\U${hex(character).padStart(8, "0")}`);
}

/** Control and format characters, and the two that end a line but for the line feed. Half of a pair is left to JSON.stringify. */
const obeyed = /[\u007f-\u009f\u2028\u2029\p{Cf}\p{Co}\p{Cn}]/gu;

function escaped(character: string): string {
  return `\\u{${hex(character)}}`;
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}
