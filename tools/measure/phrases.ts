/** Unclear phrases, with the words to use instead. */
export const phrases: readonly Phrase[] = [
  { instead: "is sent, is reported", pattern: /\b(?:is|are|was|were|be|been) told\b/g },
  { instead: "is reported, is documented", pattern: /\b(?:is|are|was|were|be|been) said\b/g },
  { instead: "is notified", pattern: /\bhears?\b/g },
  { instead: "cached, accepted, received", pattern: /\b(?:is|are|was|were) held\b/g },
  { instead: "reject, deny, invalid", pattern: /\brefus(?:e|es|ed|al|als|ing)\b/g },
  { instead: "accept, apply, consume", pattern: /\b(?:take|takes|taken|took) in\b/g },
  { instead: "next to, in addition to", pattern: /\bbeside\b/g },
  { instead: "again, resend", pattern: /\b(?:anew|once more)\b/g },
  { instead: "removed, expired, closed", pattern: /\b(?:is|are|has|have|was|were) gone\b/g },
  { instead: "replaces, is in", pattern: /\b(?:stand|stands|stood) (?:in|for|beside|there)\b/g },
  { instead: "a client, the caller", pattern: /\b(?:somebody|nobody|who asks|who may)\b/gi },
  { instead: "requested, subscribed", pattern: /\b(?:is|are|was|were) (?:wanted|asked for)\b/g },
  { instead: "is not a", pattern: /(?<!\bthere )\b(?:is|are|was|were|exists?) no\b(?! longer)/gi },
  { instead: "the number of, up to N", pattern: /\bso many\b/gi },
  { instead: "check, idle, update", pattern: /\b(?:glance|quiet|news)\b/gi },
  { instead: "client and server", pattern: /\b(?:client|server) ends?\b/g },
  {
    instead: "fix, recover, retry",
    pattern: /\b(?:mend|mends|mended|mending|heal|heals|healed)\b/gi,
  },
  { instead: "table, index, queue", pattern: /\b(?:desk|shelf|roster|trail|panel|ballot)s?\b/gi },
];

/** An unclear phrase. */
export interface Phrase {
  readonly instead: string;
  readonly pattern: RegExp;
}

/** Returns how often each phrase occurs in these texts. */
export function countPhrases(texts: readonly string[]): ReadonlyMap<Phrase, number> {
  const count = ({ pattern }: Phrase): number =>
    texts.reduce((sum, text) => sum + (text.match(pattern)?.length ?? 0), 0);
  return new Map(phrases.map((phrase) => [phrase, count(phrase)]));
}

/** Returns each phrase in a text as `LINE: "PHRASE" (INSTEAD)`. */
export function phrasesIn(text: string): readonly string[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      phrases.flatMap(({ pattern, instead }) =>
        (line.match(pattern) ?? []).map((phrase) => `${index + 1}: "${phrase}" (${instead})`),
      ),
    );
}
