const tokens =
  /((?:\s|#[^\n]*)*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}<>[\]:,;]|[^\s#"'{}<>[\]:,;]+|.|$)/gsu;
const ends: Readonly<Record<string, string | undefined>> = { "{": "}", "<": ">" };

/**
 * A text in protobuf's text format with some fields turned to blanks, at any depth, so that all else stays where it is: its reader rejects a field that it does not know.
 * `unwanted` is asked with each name as it is written, `[own.v1.rule]` for an extension. What is not a text format stays in parts, for the reader to reject. @internal
 */
export function blankFields(text: string, unwanted: (name: string) => boolean): string {
  const all = [...text.matchAll(tokens)].map(([, blank = "", token = ""]) => ({ blank, token }));
  const written: string[] = [];
  let at = 0;
  const peek = (): string => all[at]?.token ?? "";
  const take = (keep: boolean): string => {
    const { blank, token } = all[at++] ?? { blank: "", token: "" };
    written.push(keep ? blank + token : (blank + token).replace(/\S/gu, " "));
    return token;
  };
  const takeUntil = (end: string, keep: boolean, each: () => void): void => {
    while (peek() !== end && peek() !== "") {
      if (/^[,;]/u.test(peek())) take(keep);
      else each();
    }
    take(keep);
  };
  const field = (keep: boolean): void => {
    const wanted = keep && !unwanted(nameAt(all, at));
    if (take(wanted) === "[") takeUntil("]", wanted, () => take(wanted));
    if (peek() === ":") take(wanted);
    value(wanted);
  };
  const value = (keep: boolean): void => {
    const token = take(keep);
    const end = ends[token];
    if (end !== undefined)
      takeUntil(end, keep, () => {
        field(keep);
      });
    else if (token === "[")
      takeUntil("]", keep, () => {
        value(keep);
      });
    else if (token === "-") take(keep);
    // Texts that stand behind each other are one.
    else if (isText(token)) while (isText(peek())) take(keep);
  };
  takeUntil("", true, () => {
    field(true);
  });
  return written.join("");
}

/** The name of the field that begins here; an extension in its brackets. */
function nameAt(all: readonly { readonly token: string }[], at: number): string {
  let name = all[at]?.token ?? "";
  if (name === "[")
    for (let i = at + 1; i < all.length && !name.endsWith("]"); i++) name += all[i]?.token ?? "";
  return name;
}

function isText(token: string): boolean {
  return /^["']/u.test(token);
}
