/**
 * The newest positions that were seen in the histories of names. A position is `PROCESS.NUMBER`: a
 * process of the server counts the states that it reads, in base 36, so of two positions of one
 * process the state with the greater number is the newer one (S-HTTP-14).
 */
export interface SeenPositions {
  /**
   * Notes the position of an answer for a URL. Returns false if it is older than one that was noted
   * for the URL before, as an answer is that a cache has stored. A position in another form has no
   * order, so it is never older.
   */
  note(url: string, position: string): boolean;
}

/** The number of processes and URLs that are remembered; the oldest are forgotten first. */
const MOST = 100;

/** Creates a table without positions. */
export function createSeenPositions(): SeenPositions {
  const newest = new Map<string, number>();
  return {
    note(url, position) {
      const [, process, digits] = /^([^.]+)\.([0-9a-z]{1,10})$/.exec(position) ?? [];
      if (process === undefined || digits === undefined) return true;
      const key = `${process} ${url}`;
      const number = parseInt(digits, 36);
      const known = newest.get(key) ?? 0;
      newest.delete(key);
      newest.set(key, Math.max(known, number));
      for (const oldest of newest.keys()) {
        if (newest.size <= MOST) break;
        newest.delete(oldest);
      }
      return number >= known;
    },
  };
}
