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
