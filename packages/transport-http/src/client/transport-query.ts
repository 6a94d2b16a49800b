/** Parameters of a URL that belong to the transport, and are never part of a name (S-HTTP-14). */
const keys = ["after", "at", "form"] as const;

/**
 * Returns a URL with parameters of the transport. The rest of its query stays as it is written:
 * `URLSearchParams` would write it in another way, and so name another resource.
 */
export function withTransportQuery(
  url: string,
  values: Readonly<Record<(typeof keys)[number], string | undefined>>,
): string {
  let query = "";
  for (const key of keys) {
    const value = values[key];
    if (value === undefined) continue;
    query += `${query === "" ? "" : "&"}${key}=${encodeURIComponent(value)}`;
  }
  return query === "" ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

/** Returns a URL without the parameters of the transport. */
export function withoutTransportQuery(url: string): string {
  const question = url.indexOf("?");
  if (question === -1) return url;
  const rest = url
    .slice(question + 1)
    .split("&")
    .filter((part) => !keys.some((key) => part === key || part.startsWith(`${key}=`)));
  return `${url.slice(0, question)}${rest.length === 0 ? "" : `?${rest.join("&")}`}`;
}
