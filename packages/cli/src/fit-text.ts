/** How many columns of a terminal a text takes. Marks count as one although they take none, so a text is never wider than this. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text in exactly `width` columns: filled up with spaces, or cut, with an ellipsis at its end. */
export function fitText(text: string, width: number): string {
  const cut = cutText(text, width);
  return cut + " ".repeat(Math.max(0, width - textWidth(cut)));
}

/** The text in at most `width` columns; where it is cut it ends with an ellipsis. */
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

/** The same of its end: where it is cut it begins with an ellipsis. Names differ at their end. */
export function cutStart(text: string, width: number): string {
  return reversed(cutText(reversed(text), width));
}

function reversed(text: string): string {
  return Array.from(text).reverse().join("");
}

/** The text in lines of at most `width` columns, wherever the end of a line falls: what it says may have no spaces. At most `lines` of them; where it is cut the last one ends with an ellipsis. */
export function wrapText(text: string, width: number, lines: number): readonly string[] {
  if (lines <= 1 || textWidth(text) <= width) return [cutText(text, width)];
  let columns = 0;
  const line = Array.from(text).findIndex((character) => (columns += widthOf(character)) > width);
  const first = Array.from(text).slice(0, Math.max(1, line)).join("");
  return [first, ...wrapText(text.slice(first.length), width, lines - 1)];
}

/** Makes room for the ellipsis. */
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

/** The width of each column of a table: as wide as its texts, at most its share of the line or its title. */
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

/** How much of a table there is to show, and where. */
export interface TableRoom {
  readonly now: number;
  /** Lines. */
  readonly most: number;
  readonly columns: number;
}

/** As wide as help is written, wherever it is read. */
export const helpWidth = 96;

/** A text in lines of at most `width` characters, broken at spaces; lines after the first begin with `indent`. A longer word is left whole. Its own line breaks stay. */
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
