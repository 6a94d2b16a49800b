import { nameKey } from "@xdstp/uri";

import { type Put, type Refresh, type Removal, XdsError } from "@xdstp/core";
import { isDataError } from "../is-data-error.ts";
import { type CachedReader, isVariantCached } from "./cached.ts";
import type { ClientContext } from "./client-context.ts";
import type { ClientParts } from "./client-parts.ts";
import type { MemberLimit } from "./member-limit.ts";
import { type ReceivedName, receivedKey } from "./received.ts";
import type { Wanted, WantedCollection, WantedName } from "./wanted.ts";
import type { WantedIndex } from "./wanted-index.ts";

/**
 * One statement of a response about a name or an interest. The verdicts of a response name each
 * resource once.
 */
export type ResponseVerdict =
  | AcceptedResource
  /**
   * The response answers these interests, apart from its accepted resources. `member`: the key of
   * the member that it names; undefined: it names none.
   */
  | {
      readonly kind: "answered";
      readonly covering: readonly Wanted[];
      readonly member: string | undefined;
    }
  /** A heartbeat of a cached resource (C-TTL-3). */
  | { readonly kind: "refreshed"; readonly refresh: Refresh }
  /** A heartbeat of a resource that is not cached: these interests have to be requested again. */
  | { readonly kind: "lost"; readonly covering: readonly Wanted[] }
  /** The resource is invalid, and the sink is not asked. */
  | { readonly kind: "rejected"; readonly name: string; readonly error: XdsError }
  /** A further invalid resource, which is only counted. */
  | { readonly kind: "rejected-unnamed" }
  /** The name no longer exists. */
  | {
      readonly kind: "removed";
      readonly removal: Removal;
      readonly key: string;
      readonly covering: readonly Wanted[];
    }
  /** An error of an interest. Its cached resources stay. */
  | { readonly kind: "failed"; readonly wanted: Wanted; readonly error: XdsError }
  /**
   * The response has all there is of a collection. `exact`: all of it was accepted, so the sink
   * removes the other members. `error`: why the collection is empty.
   */
  | {
      readonly kind: "whole";
      readonly collection: WantedCollection;
      readonly exact: boolean;
      readonly error: XdsError | undefined;
    }
  /** A full state does not have this name, which is still awaited (C-FULL-3). */
  | { readonly kind: "left-out"; readonly wanted: WantedName }
  /**
   * A full state does not have these members of a collection, which are cached or were rejected.
   */
  | {
      readonly kind: "unseen";
      readonly collection: WantedCollection;
      readonly unseen: readonly Removal[];
    }
  /** The name is not subscribed (C-SUB-8). */
  | { readonly kind: "ignored" };

/** A resource to put into the sink. */
export interface AcceptedResource {
  readonly kind: "accepted";
  readonly put: Put;
  readonly key: string;
  /** The interests that it answers. */
  readonly covering: readonly Wanted[];
}

/**
 * The state that a response is compared with. Classifying changes nothing of it, except for the
 * counts of `members`.
 */
export interface ClassifySource extends CachedReader {
  readonly context: ClientContext;
  readonly parts: ClientParts;
  readonly wants: WantedIndex;
  /** undefined: the client subscribes to single names only. */
  readonly members: MemberLimit | undefined;
}

/** A response that is being classified. */
export interface Classification {
  readonly verdicts: ResponseVerdict[];
  /** The errors of the response, by the key of the name. They explain removals and absence. */
  readonly reasons: ReadonlyMap<string, XdsError>;
  /** Aliases that the response removes. */
  readonly ended: ReadonlySet<Wanted>;
  readonly isCounted: boolean;
  rejected: number;
  /**
   * True while no resource of the response is rejected, refreshed or lost, so that a collection may
   * be replaced by the accepted resources.
   */
  isExact: boolean;
  /**
   * For each collection that was looked up: true if nothing of it has come on this stream and it
   * has no cached members.
   */
  readonly unknown: Map<Wanted, boolean>;
  /** Keys of the names that are accepted or removed. undefined: nothing is removed yet. */
  named: Set<string> | undefined;
}

export function note(
  { verdicts }: Classification,
  covering: readonly Wanted[],
  member: string | undefined,
): void {
  if (covering.length > 0) verdicts.push({ kind: "answered", covering, member });
}

/**
 * Removes a name (C-REM-2); with `keepRemoved`, as in gRPC, the cached resource stays, with the
 * error next to it (C-GRPC-9).
 */
export function remove(
  source: ClassifySource,
  draft: Classification,
  removed: ReceivedName,
  covering: readonly Wanted[],
): void {
  const { context, typeUrl } = source;
  const { name } = removed;
  const error = removed.error ?? draft.reasons.get(receivedKey(removed));
  if (
    context.keepRemoved &&
    covering.every(({ kind }) => kind === "name") &&
    isVariantCached(source, removed)
  ) {
    const kept =
      error ??
      new XdsError("NOT_FOUND", "the server has removed it; the cached resource is kept", {
        typeUrl,
        resource: name,
      });
    for (const wanted of covering) draft.verdicts.push({ kind: "failed", wanted, error: kept });
    return;
  }
  const removal = { typeUrl, name, ...variantOf(removed) };
  addRemoval(draft, error === undefined ? removal : { ...removal, error }, covering);
}

export function addRemoval(
  draft: Classification,
  removal: Removal,
  covering: readonly Wanted[],
): void {
  const named = (draft.named ??= new Set(
    draft.verdicts.flatMap((verdict) =>
      verdict.kind === "accepted" ? [receivedKey(verdict.put.resource)] : [],
    ),
  ));
  const id = receivedKey(removal);
  if (named.has(id)) return;
  named.add(id);
  draft.verdicts.push({ kind: "removed", removal, key: nameKey(removal.name), covering });
}

/**
 * Adds the verdict that a collection is complete. A transient error is left out: it does not make
 * the collection empty.
 */
export function addWhole(
  { verdicts, reasons }: Classification,
  collection: WantedCollection,
  exact: boolean,
): void {
  const reason = reasons.get(collection.key);
  const error = reason !== undefined && isDataError(reason) ? reason : undefined;
  verdicts.push({ kind: "whole", collection, exact, error });
}

export function variantOf({ constraints }: { readonly constraints?: Uint8Array | undefined }): {
  readonly constraints?: Uint8Array;
} {
  return constraints === undefined ? {} : { constraints };
}
