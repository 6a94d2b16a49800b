import { nameKey } from "@xdstp/uri";

import type { Invariant } from "../invariants/invariant.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";

/** When all is at rest a relay asks upstream for the union of what is asked of it and of those behind it, and for nothing else (B-RELAY-1, B-RELAY-8). */
export function relaysFollowInterest(world: World, report: Report): Invariant {
  return {
    onRest() {
      world.relays.forEach((relay, index) => {
        const wanted = wantedBehind(world, index + 1).size;
        if (relay.wants !== wanted)
          report(
            "a relay asks for the union of what is wanted of it [B-RELAY-1] [B-RELAY-8]",
            `relay ${index} asks upstream for ${relay.wants} things, and ${wanted} are wanted of it`,
          );
      });
    },
  };
}

/** Different things that clients of this server watch, or of one behind it, however spelled (N-40). */
function wantedBehind({ clients }: World, server: number): ReadonlySet<string> {
  const behind = clients.filter((client) => client !== undefined && client.shape.origin >= server);
  return new Set(
    behind.flatMap((client) =>
      [...(client?.watched.values() ?? [])].map(
        ({ typeUrl, name }) => `${typeUrl} ${nameKey(name)}`,
      ),
    ),
  );
}
