import { FlagdCore } from "@openfeature/flagd-core";
import type { FlagDefinition } from "@xdstp/openfeature";

import type { Flag } from "./gen/flags/v1/flags_pb.ts";

/** The user for whom a program asks if a feature is on. */
export interface User {
  readonly id: string;
  readonly groups: readonly string[];
}

/** Returns the flag as flagd defines it, for pages and for programs that use OpenFeature. */
export function definitionOf({ on, percent, groups }: Flag): FlagDefinition {
  const isInGroup = groups.map((group) => ({ in: [group, { var: ["groups", []] }] }));
  const share = {
    fractional: [
      ["on", percent],
      ["off", 100 - percent],
    ],
  };
  return {
    state: "ENABLED",
    variants: { on: true, off: false },
    defaultVariant: "off",
    ...(on && { targeting: { if: [{ or: [false, ...isInGroup] }, "on", share] } }),
  };
}

/** A flag that was compiled, until it changes. */
const compiled = new WeakMap<Flag, FlagdCore>();

/** True if a user has a feature. The same user gets the same answer in every process and page, and keeps the feature while the percentage grows. */
export function isOn(name: string, flag: Flag, { id, groups }: User): boolean {
  const core = compiled.get(flag) ?? new FlagdCore();
  if (!compiled.has(flag)) {
    core.setConfigurations(JSON.stringify({ flags: { [name]: definitionOf(flag) } }));
    compiled.set(flag, core);
  }
  return core.resolveBooleanEvaluation(name, false, { targetingKey: id, groups: [...groups] })
    .value;
}
