/** Takes text and lets a test wait for what it wants to see. */
export interface TextSink {
  write(text: string): void;
  /** All of it. */
  readonly text: string;
  /** Resolves with the first line that matches, also one that came before; rejects once the source has ended without it. */
  line(pattern: RegExp): Promise<string>;
  /** Nothing more will come. */
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
