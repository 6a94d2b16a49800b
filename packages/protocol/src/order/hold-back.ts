import type { Entry, Reference, ResourceType } from "@xdstp/core";
import { referencesOf } from "./references-of.ts";
import type { TypeHost } from "../stream/type-machine.ts";

/** Entries that a client can take now, and the names of those that it cannot, each with what it lacks for them. */
export interface HeldBack {
  /** The same array where nothing is held back, so that streams share its frame. */
  readonly entries: readonly Entry[];
  /** The names that are held back, each with the reference for which it waits. */
  readonly heldBack: ReadonlyMap<string, Reference>;
}

const none: ReadonlyMap<string, Reference> = new Map();

/** Leaves out what refers to a name that the client has rejected and never had: it would point at nothing (S-ORD-4). */
export function holdBack(
  type: ResourceType | undefined,
  host: Pick<TypeHost, "sibling">,
  entries: readonly Entry[],
): HeldBack {
  const rejecting = (type?.follows ?? []).filter(
    ({ typeUrl, when }) => when === "accepted" && host.sibling(typeUrl)?.rejecting === true,
  );
  if (rejecting.length === 0 || type?.references === undefined) return { entries, heldBack: none };
  const heldBack = new Map<string, Reference>();
  for (const { name, resource } of entries) {
    const lacking =
      resource === undefined
        ? undefined
        : referencesOf(type, resource).find(
            (reference) =>
              rejecting.some(({ typeUrl }) => typeUrl === reference.typeUrl) &&
              host.sibling(reference.typeUrl)?.lacks(reference.name) === true,
          );
    if (lacking !== undefined) heldBack.set(name, lacking);
  }
  return heldBack.size === 0
    ? { entries, heldBack: none }
    : { entries: entries.filter(({ name }) => !heldBack.has(name)), heldBack };
}

/** What of these was gathered and is held back. */
export function heldBackOf(
  gathered: readonly Entry[],
  sendable: readonly Entry[],
  heldBack: ReadonlyMap<string, Reference>,
): readonly Entry[] {
  return gathered === sendable || heldBack.size === 0
    ? []
    : gathered.filter(({ name }) => heldBack.has(name));
}

/** What was rejected and would be held back now stays rejected: it is not owed once what it refers to is there (S-ACK-8). What was held back `before` may have been asked for. */
export function leaveRejected(
  state: { heldBack: ReadonlyMap<string, Reference>; heldBackFrom: number },
  before: ReadonlyMap<string, Reference>,
  rejected: readonly Entry[],
): void {
  if (state.heldBack.size === 0) return;
  const names = new Set(rejected.map(({ name }) => name));
  state.heldBack = new Map(
    [...state.heldBack].filter(([name]) => before.has(name) || !names.has(name)),
  );
  if (state.heldBack.size === 0) state.heldBackFrom = Infinity;
}
