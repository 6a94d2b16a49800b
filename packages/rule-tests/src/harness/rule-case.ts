import { describe, it } from "vitest";
import { createWorld, type World, type WorldOptions } from "./create-world.ts";
import { everyVariant, type Variant } from "./variant.ts";

/** One case of one or several rules: data, run once per variant. */
export interface RuleCase {
  /** The rules that it really shows. */
  readonly rules: readonly string[];
  readonly title: string;
  /** Absent: all four. */
  readonly variants?: readonly Variant[];
  /** The options of the world of the case. */
  readonly world?: Omit<WorldOptions, "variant">;
  /** Does the steps and checks the results; nothing happens between the steps by itself. */
  readonly run: (world: World) => void | Promise<void>;
}

/** Runs each case in each of its variants, in a world of its own. */
export function runCases(name: string, cases: readonly RuleCase[]): void {
  describe(name, () => {
    for (const { rules, title, variants = everyVariant, world, run } of cases) {
      const ids = rules.map((rule) => `[${rule}]`).join(" ");
      it.each(variants)(`${title} (%s) ${ids}`, async (variant) => {
        await run(createWorld({ ...world, variant }));
      });
    }
  });
}
