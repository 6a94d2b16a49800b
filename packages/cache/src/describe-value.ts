/** What a value of the wrong type is, for an error: `missing`, `null`, `a string`, `an object`. */
export function describeValue(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  const type = typeof value;
  return `${type === "object" ? "an" : "a"} ${type}`;
}
