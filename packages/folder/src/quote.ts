const limit = 100;

/** A text as it is shown in a message: in quotes, control characters escaped, cut to 100 characters. */
export function quote(text: string): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}...` : text;
  return JSON.stringify(cut).replaceAll("\\\\", "\\");
}
