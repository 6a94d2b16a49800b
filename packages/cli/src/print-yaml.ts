import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * Returns JSON as YAML that any reader of YAML 1.2 reads back as the same.
 *
 * Strings of any length and content are safe: what a terminal could obey is written as an escape in double quotes, also where it goes to a file (S-ACK-15).
 * The depth is limited by the stack; check it before.
 */
export function printYaml(value: JsonValue): string {
  const lines: string[] = [];
  if (isBlock(value)) writeBlock(lines, value, "", "");
  else lines.push(isLiteral(value) ? quoted(value) : scalarText(value));
  return `${lines.join("\n")}\n`;
}

type Block = JsonObject | readonly JsonValue[];

/** `first` starts the first line, `pad` all others: an item of a list has its first field behind the dash. */
function writeBlock(lines: string[], block: Block, pad: string, first: string): void {
  let start = first;
  if (isList(block)) {
    for (const item of block) {
      if (isBlock(item)) writeBlock(lines, item, `${pad}  `, `${start}- `);
      else writeValue(lines, `${start}-`, item, pad);
      start = pad;
    }
    return;
  }
  for (const [key, item] of Object.entries(block)) {
    writeValue(lines, headOf(lines, key, pad, start), item, pad);
    start = pad;
  }
}

/** YAML reads a key of more than 1,024 characters only behind a question mark. */
function headOf(lines: string[], key: string, pad: string, start: string): string {
  const text = stringText(key);
  if (text.length <= 1_000) return `${start}${text}:`;
  lines.push(`${start}? ${text}`);
  return `${pad}:`;
}

function writeValue(lines: string[], head: string, value: JsonValue, pad: string): void {
  const inner = `${pad}  `;
  if (isBlock(value)) {
    lines.push(head);
    writeBlock(lines, value, inner, inner);
  } else if (isLiteral(value)) {
    const ends = value.endsWith("\n");
    lines.push(`${head} ${ends ? "|" : "|-"}`);
    for (const line of (ends ? value.slice(0, -1) : value).split("\n")) lines.push(line === "" ? "" : `${inner}${line}`);
  } else {
    lines.push(`${head} ${scalarText(value)}`);
  }
}

function isList(value: Block): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isBlock(value: JsonValue): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** Lines that can stand as they are: no control characters, no line of spaces only, and a first line that shows the indentation. */
function isLiteral(value: JsonValue): value is string {
  if (typeof value !== "string" || !value.includes("\n")) return false;
  return !/^\s|\n\n$|\n[ \t]+(?:\n|$)|\n\t/.test(value) && !unprintable.test(value.replaceAll("\n", ""));
}

/** Control and format characters, half characters, what no font has, and the separators of lines and paragraphs. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/u;

function scalarText(value: Exclude<JsonValue, undefined>): string {
  return typeof value === "string" ? stringText(value) : JSON.stringify(value);
}

function stringText(text: string): string {
  if (isPlain(text)) return text;
  return unprintable.test(text) ? quoted(text) : `'${text.replaceAll("'", "''")}'`;
}

/** Durations and addresses start with a digit and are still text to every reader. */
const textOfDigits = /^(?:\d+(?:\.\d+)?s|\d{1,3}(?:\.\d{1,3}){3}(?:\/\d+)?)$/;
const words = /^(?:true|false|yes|no|on|off|y|n|null)$/i;

function isPlain(text: string): boolean {
  if (text.length === 0 || text.length > 500) return false;
  if (textOfDigits.test(text)) return true;
  return /^[A-Za-z_/]/.test(text) && !/[^\w ./:@%+,=()*~;?&!$<>#-]|: | #|[: ]$/.test(text) && !words.test(text);
}

function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const digits = (character.codePointAt(0) ?? 0).toString(16);
    return digits.length > 4 ? `\\U${digits.padStart(8, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
}
