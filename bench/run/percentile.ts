/** The value below which this share of the values lies; NaN of none. */
export function percentile(values: Float64Array, share: number): number {
  return (
    values.toSorted()[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
  );
}

/** The middle value; of an even count the upper one. */
export function median(values: readonly number[]): number {
  return percentile(Float64Array.from(values), 0.5);
}
