/** Why `what` cannot have a text. UTF-8 has no lone surrogates: each would go out as U+FFFD, and several names as one (N-06). */
export function textFault(what: string, text: string): string | undefined {
  return /\p{Surrogate}/u.test(text)
    ? `${what} has half a surrogate pair, which UTF-8 cannot hold (N-06); write the whole character`
    : undefined;
}
