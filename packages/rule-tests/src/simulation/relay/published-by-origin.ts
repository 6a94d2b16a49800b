import { nameKey } from "@xdstp/uri";

import { payloadOf } from "../../harness/payload.ts";
import type { Invariant } from "../invariants/invariant.ts";
import { typeUrls } from "../types.ts";
import type { Report } from "../violation.ts";
import type { World } from "../simulated-world.ts";

/** A resource of a client, from whichever relay, is byte for byte one that the origin has published under that name (B-RELAY-3). */
export function publishedByOrigin(world: World, report: Report): Invariant {
  const published = new Set<string>();
  return {
    onCommit(_, values) {
      for (const { typeUrl, name, text } of values)
        if (text !== undefined) published.add(keyOf(typeUrl, name, payloadOf(name, text)));
    },
    onLook() {
      for (const client of world.clients)
        for (const typeUrl of typeUrls)
          for (const { name, resource } of client?.cache.held(typeUrl) ?? []) {
            const isStrange =
              resource !== undefined &&
              !published.has(keyOf(typeUrl, name, resource.payload.value));
            if (isStrange)
              report(
                "what a client has is what the origin has published [B-RELAY-3]",
                `${client?.name} has something under ${name} of ${typeUrl} that was never published`,
              );
          }
    },
  };
}

function keyOf(typeUrl: string, name: string, payload: Uint8Array): string {
  return `${typeUrl} ${nameKey(name)} ${Buffer.from(payload).toString("latin1")}`;
}
