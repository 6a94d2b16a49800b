/** Returns the number of terminal columns of a text. A combining mark counts as one column although it takes none, so a text is never wider than this number. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Returns the text in exactly `width` columns: padded with spaces, or cut and ended with an ellipsis. */
export function fitText(text: string, width: number): string {
  const cut = cutText(text, width);
  return cut + " ".repeat(Math.max(0, width - textWidth(cut)));
}

/** Returns the text in at most `width` columns. A cut text ends with an ellipsis. */
export function cutText(text: string, width: number): string {
  let taken = "";
  let columns = 0;
  for (const character of text) {
    columns += widthOf(character);
    if (columns > width) return shorten(taken, width);
    taken += character;
  }
  return taken;
}

/** Returns the end of the text in at most `width` columns. A cut text begins with an ellipsis. Names differ at their end. */
export function cutStart(text: string, width: number): string {
  return reversed(cutText(reversed(text), width));
}

function reversed(text: string): string {
  return Array.from(text).reverse().join("");
}

/** Breaks the text into lines of at most `width` columns, at any character, since it may have no spaces. Returns at most `lines` lines; a cut text ends with an ellipsis. */
export function wrapText(text: string, width: number, lines: number): readonly string[] {
  if (lines <= 1 || textWidth(text) <= width) return [cutText(text, width)];
  let columns = 0;
  const line = Array.from(text).findIndex((character) => (columns += widthOf(character)) > width);
  const first = Array.from(text).slice(0, Math.max(1, line)).join("");
  return [first, ...wrapText(text.slice(first.length), width, lines - 1)];
}

/** Replaces the end of the text by an ellipsis, so that it has at most `width` columns. */
function shorten(taken: string, width: number): string {
  if (width <= 0) return "";
  const characters = Array.from(taken);
  while (textWidth(characters.join("")) > width - 1) characters.pop();
  return `${characters.join("")}…`;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

function widthOf(character: string): number {
  return character > "\u10ff" && wide.test(character) ? 2 : 1;
}

/** Returns the width of each column of a table: the width of its longest text, but at most its share of the line. A column is never narrower than its title. */
export function columnWidths(
  [titles = [], ...rows]: readonly (readonly string[])[],
  shares: readonly number[],
  columns: number,
): readonly number[] {
  return titles.map((title, at) =>
    Math.min(
      Math.max(title.length, Math.floor(columns * (shares[at] ?? 0))),
      Math.max(...[titles, ...rows].map((row) => textWidth(row[at] ?? ""))),
    ),
  );
}

/** The space for a table on the terminal, and the current time. */
export interface TableRoom {
  readonly now: number;
  /** The number of lines. */
  readonly most: number;
  readonly columns: number;
}

/** The width of help texts in characters, on every terminal. */
export const helpWidth = 96;

/** Breaks a text at spaces into lines of at most `width` characters. Lines after the first begin with `indent`. A word that is longer than a line stays whole. Existing line breaks stay. */
export function wrapWords(text: string, width: number, indent: string): string {
  return text
    .split("\n")
    .map((line) => wrapLine(line, width, indent))
    .join("\n");
}

function wrapLine(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : `${indent}${word}`);
  }
  return lines.join("\n");
}
