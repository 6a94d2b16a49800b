/** The beginning of a text of a peer. A copy: what `slice` gives keeps the whole text alive, which may be megabytes, as long as its beginning. */
export function cutText(text: string, atMost: number): string {
  return text.length <= atMost
    ? text
    : Buffer.from(text.slice(0, atMost), "utf16le").toString("utf16le");
}
