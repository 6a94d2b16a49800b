import { createHash } from "node:crypto";

import type { Flag } from "./gen/flags/v1/flags_pb.ts";

/** The user for whom a program asks if a feature is on. */
export interface User {
  readonly id: string;
  readonly groups: readonly string[];
}

/** True if a user has a feature. The same user gets the same answer in every process, and keeps the feature while the percentage grows. */
export function isOn(name: string, flag: Flag, { id, groups }: User): boolean {
  if (!flag.on) return false;
  if (flag.groups.some((group) => groups.includes(group))) return true;
  return createHash("sha256").update(`${name}/${id}`).digest().readUInt32BE() % 100 < flag.percent;
}
