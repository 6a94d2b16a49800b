const label = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/** A name of a host, absolute and without a dot at its end (RFC 1123): no address, no international name that is not encoded. `localhost` is one too. */
export function isHostName(text: string): boolean {
  const labels = text.split(".");
  return (
    text.length <= 253 &&
    labels.every((one) => label.test(one)) &&
    !/^\d+$/.test(labels.at(-1) ?? "")
  );
}
