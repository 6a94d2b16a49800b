/** The verbs of `tools/run.mjs`: the program behind each. `fromCaller`: it runs in the folder it was called from, so that paths count from there. */
export const verbs = {
  start: { file: "examples/mesh/main.ts" },
  test: { file: "tools/gates/test.ts" },
  "example:browser": { file: "examples/browser/main.ts" },
  "example:client": { file: "examples/client/main.ts" },
  "example:federation": { file: "examples/federation/main.ts" },
  "example:flags": { file: "examples/flags/main.ts" },
  "example:on-demand": { file: "examples/on-demand/main.ts" },
  "example:per-node": { file: "examples/per-node/main.ts" },
  "example:relay": { file: "examples/relay/main.ts" },
  xdstp: { file: "packages/cli/src/bin.ts", fromCaller: true },
  rules: { file: "tools/rules/main.ts" },
  bench: { file: "bench/main.ts" },
  docs: { file: "tools/docs/main.ts" },
  measure: { file: "tools/measure/main.ts" },
  mutate: { file: "tools/mutate/main.ts" },
  all: { file: "tools/gates/all.ts" },
};
