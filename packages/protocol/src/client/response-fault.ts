import type { ClientLimits } from "./client-limits.ts";
import type { ReceivedResponse } from "./received.ts";
import { receivedKey } from "./received-key.ts";

/** Why a response as a whole has to be rejected (C-ACK-6, C-DUP-2, C-LIM-7); undefined: each of its resources is judged by itself. */
export function responseFault(
  response: ReceivedResponse,
  { responseEntries }: ClientLimits,
): string | undefined {
  if (response.fault !== undefined) return response.fault;
  const { resources, removed, errors } = response;
  if (resources.length + removed.length + errors.length > responseEntries)
    return `it has more than ${responseEntries} entries, which is all that this client takes in one response`;
  if (resources.length + removed.length < 2) return undefined;
  return duplicateIn(response);
}

/** What has no name that can be read is bad by itself, however often it comes. */
function duplicateIn({ resources, removed }: ReceivedResponse): string | undefined {
  const added = new Set<string>();
  for (const resource of resources) {
    const before = added.size;
    if (resource.name !== "" && added.add(receivedKey(resource)).size === before)
      return `it has ${JSON.stringify(resource.name)} twice (C-DUP-2)`;
  }
  const both = removed.find((gone) => added.has(receivedKey(gone)));
  return both === undefined
    ? undefined
    : `it both has and removes ${JSON.stringify(both.name)} (C-DUP-2)`;
}
