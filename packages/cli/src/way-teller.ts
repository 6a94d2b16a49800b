import type { AskClient } from "./ask-client.ts";
import type { WatchEvent } from "./watch-event.ts";

/** Notified of names that may lead elsewhere now: each as it is shown, and as it is requested. */
export type WayTeller = (names: readonly (readonly [shown: string, asked: string])[]) => void;

/** Tells where names of a type lead, whenever that is another place than before. */
export function createWayTeller(
  asking: Pick<AskClient, "hops">,
  typeUrl: string,
  tell: (event: WatchEvent) => void,
): WayTeller {
  const known = new Map<string, string>();
  return (names) => {
    const hopsOf = asking.hops(typeUrl);
    for (const [name, asked] of names) {
      const hops = hopsOf(asked);
      // Servers may change while the way is the same.
      const way = hops.map(({ kind, to }) => `${kind} ${to}`).join("\n");
      if (way === (known.get(name) ?? "")) continue;
      known.set(name, way);
      tell({ kind: "leads", name, hops });
    }
  };
}
