/** What may not grow: a change that lowers a count lowers its ceiling too. */
export interface Ceilings {
  /** Sources that import themselves through others. */
  readonly filesInImportCycles: number;
  /** Phrases that readers stumble over. */
  readonly allPhrases: number;
}

/** A line for each count that is not at its ceiling. */
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
