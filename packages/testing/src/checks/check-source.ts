import { bindCase, type ContractCase } from "./contract-case.ts";
import { sourceCases } from "./source-cases.ts";
import type { TestedSource } from "./tested-source.ts";

/** Creates a source that has seen no transaction, or an empty one. */
export type MakeSource = () => TestedSource | Promise<TestedSource>;

/**
 * Returns the cases that each implementation of `ResourceSource` must pass: order and revisions,
 * settled and empty topics, removals and what comes back, shared arrays, spelling, watchers.
 *
 * @param make - Creates a new source for each case
 */
export function checkSource(make: MakeSource): readonly ContractCase[] {
  return sourceCases().map((each) =>
    bindCase(each, async (check) => {
      const tested = await make();
      try {
        return await check(tested);
      } finally {
        await tested.close?.();
      }
    }),
  );
}
