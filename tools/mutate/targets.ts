/** The packages that are mutated, each with the packages whose tests run for it. Tests of the two variants, and of the package protocol that they share, are in rule-tests too. */
export const targets: Readonly<Record<string, readonly string[]>> = {
  uri: ["uri"],
  core: ["core", "cache", "protocol"],
  protocol: ["protocol", "transport-delta", "transport-sotw", "rule-tests"],
  cache: ["cache"],
  "transport-delta": ["transport-delta", "rule-tests"],
  "transport-sotw": ["transport-sotw", "rule-tests"],
};

/**
 * Tests that cannot take part: one looks at the sources instead of running them, and fails with a mutant's switch in every line;
 * one counts calls through a mocked module, which is loaded already where the files of a mutant share a worker.
 */
export const sourceTests: readonly string[] = [
  "packages/uri/src/index.test.ts",
  "packages/rule-tests/src/review/work-of-one-client.mocks.test.ts",
];

/** Tests that cannot take part for one package: this one sends lists of millions of names, and runs into its limit with a mutant's switch in every line of the wire scanner. */
export const slowTests: Readonly<Record<string, readonly string[]>> = {
  protocol: ["packages/rule-tests/src/limits/rates.test.ts"],
};
