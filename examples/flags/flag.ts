import { createHash } from "node:crypto";

import type { Flag } from "./gen/flags/v1/flags_pb.ts";

/** Who asks whether a feature is on. */
export interface User {
  readonly id: string;
  readonly groups: readonly string[];
}

/** Whether a user has a feature. The same user gets the same answer in every process, and keeps the feature while the percentage grows. */
export function isOn(name: string, flag: Flag, { id, groups }: User): boolean {
  if (!flag.on) return false;
  if (flag.groups.some((group) => groups.includes(group))) return true;
  return createHash("sha256").update(`${name}/${id}`).digest().readUInt32BE() % 100 < flag.percent;
}
