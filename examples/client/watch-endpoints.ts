import type { Client } from "@xdstp/client";
import { ClusterLoadAssignmentSchema } from "@xdstp/protos/envoy/endpoint";

/** Follows all members of a glob. They are decoded when somebody reads them: here nobody does. */
export async function watchEndpoints(
  client: Client,
  glob: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  for await (const { added, updated, removed, error } of client.watchAll(
    ClusterLoadAssignmentSchema,
    glob,
    { decode: "on-demand", signal },
  )) {
    const lines = [
      ...added.map(({ name }) => `+ ${idOf(name)}`),
      ...updated.map(({ name }) => `* ${idOf(name)}`),
      ...removed.map((name) => `- ${idOf(name)}`),
    ];
    if (lines.length > 0) say(lines.sort().join(", "));
    if (error !== undefined) say(`may be old: ${error.text}`);
  }
}

function idOf(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}
