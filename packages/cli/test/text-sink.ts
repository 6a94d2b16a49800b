/** Collects output and lets a test wait for a line. */
export interface TextSink {
  write(text: string): void;
  /** The whole output. */
  readonly text: string;
  /** Resolves with the first line that matches, also an earlier one. Rejects if the source has ended without such a line. */
  line(pattern: RegExp): Promise<string>;
  /** Notes that the source has ended. */
  end(): void;
}

export function createTextSink(): TextSink {
  let text = "";
  let isOver = false;
  let waiting: (() => void)[] = [];
  const updates = (): void => {
    for (const wake of waiting.splice(0)) wake();
    waiting = [];
  };
  const find = (pattern: RegExp): string | undefined =>
    text
      .split("\n")
      .slice(0, -1)
      .find((line) => pattern.test(line));
  return {
    write(more) {
      text += more;
      updates();
    },
    get text() {
      return text;
    },
    async line(pattern) {
      for (;;) {
        const found = find(pattern);
        if (found !== undefined) return found;
        if (isOver) throw new Error(`no line matches ${String(pattern)} in:\n${text}`);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
      }
    },
    end() {
      isOver = true;
      updates();
    },
  };
}
