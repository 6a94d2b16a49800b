/** Counts that must not grow. A change that lowers a count lowers its ceiling too. */
export interface Ceilings {
  /** The number of sources in an import cycle. */
  readonly filesInImportCycles: number;
  /** The number of unclear phrases. */
  readonly allPhrases: number;
}

/** Returns a line for each count that differs from its ceiling. */
export function differences(counted: Ceilings, ceilings: Ceilings): readonly string[] {
  const names = ["filesInImportCycles", "allPhrases"] as const;
  return names
    .filter((name) => counted[name] !== ceilings[name])
    .map((name) => {
      const way =
        counted[name] > ceilings[name]
          ? "npm run measure -- --list shows where they are"
          : "lower the ceiling in tools/measure/ceilings.json";
      return `${name}: ${counted[name]}, and ${ceilings[name]} is the ceiling; ${way}`;
    });
}
