/** Takes the screen: the other page, no cursor, no wrapping of lines. */
export const takeScreen = "\u001b[?1049h\u001b[?25l\u001b[?7l";

/** Gives the screen back as it was. */
export const leaveScreen = "\u001b[?7h\u001b[?25h\u001b[?1049l";

/** Draws lines over what is there, without a flicker: each clears its rest, the last one what is below. */
export function redraw(lines: readonly string[]): string {
  return `\u001b[H${lines.map((line) => `${line}\u001b[K`).join("\r\n")}\u001b[J`;
}
