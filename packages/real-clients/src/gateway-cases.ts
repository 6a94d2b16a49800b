/** A request in the comment of an input, and what the Gateway API says becomes of it. */
export interface GatewayExpectation {
  /** The line, for messages. */
  readonly line: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Names of backends, statuses, `closed` or `grpc-STATUS`, with their share of the requests. */
  readonly outcomes: readonly { readonly outcome: string; readonly share: number }[];
  /** Other observations, such as `path=/x`; `-` for a thing that must not be there. */
  readonly seen: Readonly<Record<string, string>>;
}

/** Reads the lines `# METHOD URL [HEADER=VALUE]... => [SHARE%] OUTCOME... [WHAT=VALUE]...`. */
export function expectationsIn(text: string): readonly GatewayExpectation[] {
  return [...text.matchAll(/^# ([A-Z]+) (\S+:\/\/\S+)(.*?) => (.+)$/gm)].map(
    ([line, method = "", url = "", headers = "", outcome = ""]) => {
      const words = outcome.split(" ");
      const isSeen = (word: string): boolean => /^[a-z.-]+=/.test(word);
      const plain = words.filter((word) => !isSeen(word));
      return {
        line: line.slice(2),
        method,
        url: new URL(url),
        headers: pairsIn(headers.split(" ")),
        outcomes: outcomesIn(plain),
        seen: pairsIn(words.filter(isSeen)),
      };
    },
  );
}

function outcomesIn(words: readonly string[]): GatewayExpectation["outcomes"] {
  if (!words[0]?.endsWith("%")) return words.map((outcome) => ({ outcome, share: 1 }));
  return words.flatMap((word, at) =>
    word.endsWith("%") ? [{ outcome: words[at + 1] ?? "", share: parseInt(word) / 100 }] : [],
  );
}

function pairsIn(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words
      .filter((word) => word.includes("="))
      .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
  );
}
