import { nameKey } from "@xdstp/uri";

import type { ClientLimits } from "./client-limits.ts";
import type { ReceivedResponse } from "./received.ts";

/** Why a response as a whole has to be refused (C-ACK-6, C-DUP-2, C-LIM-7); undefined: each of its resources is judged by itself. */
export function responseFault(response: ReceivedResponse, { responseEntries }: ClientLimits): string | undefined {
  if (response.fault !== undefined) return response.fault;
  const { resources, removed, errors } = response;
  if (resources.length + removed.length + errors.length > responseEntries) return `it has more than ${responseEntries} entries, which is all that this client takes in one response`;
  if (resources.length + removed.length < 2) return undefined;
  return duplicateIn(response);
}

/** One of several variants of a name (TP2) is told apart by its constraints. */
function duplicateIn({ resources, removed }: ReceivedResponse): string | undefined {
  const added = new Set<string>();
  for (const { name, constraints } of resources) {
    const key = keyOf(name, constraints);
    if (added.has(key)) return `it has ${JSON.stringify(name)} twice (C-DUP-2)`;
    added.add(key);
  }
  for (const { name, constraints } of removed) {
    if (added.has(keyOf(name, constraints))) return `it both has and removes ${JSON.stringify(name)} (C-DUP-2)`;
  }
  return undefined;
}

function keyOf(name: string, constraints: Uint8Array | undefined): string {
  return constraints === undefined ? nameKey(name) : `${nameKey(name)}\n${Buffer.from(constraints).toString("latin1")}`;
}
