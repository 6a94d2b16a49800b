import type { AnyBytes } from "@xdstp/core";
import type { ShownHop } from "./shown-hop.ts";
import type { AskClient } from "./ask-client.ts";

/** A resource as it was cached at a time. */
export interface HeldResource {
  readonly version: string;
  readonly payload: AnyBytes;
}

/** What `xdstp watch` shows. */
export type WatchEvent =
  /** It is there, for the first time or again. `isListed`: one of the many that a collection begins with. */
  | {
      readonly kind: "state";
      readonly name: string;
      readonly now: HeldResource;
      readonly isListed: boolean;
    }
  | {
      readonly kind: "changed";
      readonly name: string;
      readonly before: HeldResource;
      readonly now: HeldResource;
    }
  | { readonly kind: "removed"; readonly name: string; readonly before: HeldResource }
  /** It leads elsewhere from now on, or to another place than before. Without hops: nowhere else any more. */
  | { readonly kind: "leads"; readonly name: string; readonly hops: readonly ShownHop[] }
  /** What a list has now, in its order. An entry may be without a name. */
  | {
      readonly kind: "list";
      readonly name: string;
      readonly version: string;
      readonly members: readonly string[];
    }
  /** There is none. */
  | { readonly kind: "missing"; readonly name: string; readonly reason: string }
  /** The server was sent a NACK for these. Without names: the whole response. */
  | {
      readonly kind: "rejected";
      readonly names: readonly string[];
      readonly nonce: string;
      readonly reason: string;
    }
  /** All members are known; or not any more. */
  | { readonly kind: "complete" | "incomplete"; readonly name: string; readonly members: number }
  /** What is cached may be old, or cannot be fetched. */
  | { readonly kind: "error"; readonly name: string; readonly reason: string }
  /** A response of a server had names that the configuration maps to other servers (C-AUTH-7). */
  | {
      readonly kind: "ignored";
      readonly server: string;
      readonly typeUrl: string;
      readonly names: number;
    }
  /** A server answers; or does not any more. */
  | { readonly kind: "connected"; readonly server: string }
  | {
      readonly kind: "disconnected";
      readonly server: string;
      readonly reason: string;
      readonly retryMs: number;
    };

/** It concerns resources, and `--count` counts it. */
export function isCounted({ kind }: WatchEvent): boolean {
  return (
    kind === "state" ||
    kind === "changed" ||
    kind === "removed" ||
    kind === "missing" ||
    kind === "rejected"
  );
}

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
