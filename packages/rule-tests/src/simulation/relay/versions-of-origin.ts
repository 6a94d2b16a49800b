import { typeUrls } from "../types.ts";
import type { Invariant } from "../invariants/invariant.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";
import { toldIn } from "../world-shape.ts";

/** When all is at rest a client has each resource in the version of the origin, where no hop is SotW without wrappers, which has none (S-VER-4, B-RELAY-3). */
export function versionsOfOrigin(world: World, report: Report): Invariant {
  return {
    onRest() {
      for (const client of world.clients) {
        if (client === undefined || toldIn(world.shape, client.shape) === "sotw") continue;
        for (const typeUrl of typeUrls)
          for (const { name, version } of client.cache.held(typeUrl)) {
            const there = world.servers[0]?.cache.topic(typeUrl, { name }).get(name)
              ?.resource?.version;
            if (there !== undefined && there !== version)
              report(
                "a client has the versions of the origin [S-VER-4] [B-RELAY-3]",
                `${client.name} has ${name} of ${typeUrl} in version ${version}, and the origin in ${there}`,
              );
          }
      }
    },
  };
}
