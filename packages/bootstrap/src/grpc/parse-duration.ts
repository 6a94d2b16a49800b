/** Milliseconds of a duration as protobuf writes it in JSON, like `600s` or `1.5s`; undefined: it is none, or not above zero. */
export function parseDuration(text: string): number | undefined {
  const seconds = /^(\d{1,12}(?:\.\d{1,9})?)s$/.exec(text)?.[1];
  const ms = Math.round(Number(seconds) * 1000);
  return ms > 0 ? ms : undefined;
}
