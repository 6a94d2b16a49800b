import type { AnyBytes } from "@xdstp/core";
import type { ShownHop } from "./shown-hop.ts";
import type { AskClient } from "./ask-client.ts";

/** A cached resource, at one time. */
export interface HeldResource {
  readonly version: string;
  readonly payload: AnyBytes;
}

/** An event that `xdstp watch` shows. */
export type WatchEvent =
  /** A resource exists, for the first time or again. `isListed`: it is one of the first members of a collection, whose content is not shown. */
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
  /** A name leads to another place than before. Without hops, it leads nowhere else any more. */
  | { readonly kind: "leads"; readonly name: string; readonly hops: readonly ShownHop[] }
  /** The members of a list in its order. An entry may be without a name. */
  | {
      readonly kind: "list";
      readonly name: string;
      readonly version: string;
      readonly members: readonly string[];
    }
  /** The resource does not exist. */
  | { readonly kind: "missing"; readonly name: string; readonly reason: string }
  /** The server was sent a NACK for these resources. Without names, for the whole response. */
  | {
      readonly kind: "rejected";
      readonly names: readonly string[];
      readonly nonce: string;
      readonly reason: string;
    }
  /** All members of a collection are known, or no longer are. */
  | { readonly kind: "complete" | "incomplete"; readonly name: string; readonly members: number }
  /** The cached resource may be outdated, or the resource cannot be fetched. */
  | { readonly kind: "error"; readonly name: string; readonly reason: string }
  /** A response of a server had names that the configuration maps to other servers (C-AUTH-7). */
  | {
      readonly kind: "ignored";
      readonly server: string;
      readonly typeUrl: string;
      readonly names: number;
    }
  /** A server has answered, or its stream has ended. */
  | { readonly kind: "connected"; readonly server: string }
  | {
      readonly kind: "disconnected";
      readonly server: string;
      readonly reason: string;
      readonly retryMs: number;
    };

/** Returns true if an event is about a resource, so that `--count` counts it. */
export function isCounted({ kind }: WatchEvent): boolean {
  return (
    kind === "state" ||
    kind === "changed" ||
    kind === "removed" ||
    kind === "missing" ||
    kind === "rejected"
  );
}

/** Called with names that may lead elsewhere now: each as it is shown, and as it is requested. */
export type WayTeller = (names: readonly (readonly [shown: string, asked: string])[]) => void;

/** Creates a function that reports where names of a type lead to, whenever that has changed. */
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
      // The servers of the steps may change while the steps stay the same.
      const way = hops.map(({ kind, to }) => `${kind} ${to}`).join("\n");
      if (way === (known.get(name) ?? "")) continue;
      known.set(name, way);
      tell({ kind: "leads", name, hops });
    }
  };
}
