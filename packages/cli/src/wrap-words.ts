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
