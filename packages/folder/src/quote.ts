const limit = 100;

/** A text as it is shown in a message: in quotes, control characters escaped, cut to 100 characters. */
export function quote(text: string): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}...` : text;
  return JSON.stringify(cut).replaceAll("\\\\", "\\");
}

/** Longer keys than any field has are cut. */
const keyLimit = 64;

/** A key as it is shown in a message: the letters, digits and `_.@-` that it begins with. Any file that is linked into the folder may be taken for YAML, and its content must not reach the log. */
export function shownKey(key: string): string {
  const shown = /^[A-Za-z0-9_.@-]*/.exec(key)?.[0].slice(0, keyLimit) ?? "";
  return shown === key ? key : `${shown}...`;
}
