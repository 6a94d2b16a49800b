import type { ReadResource, ReadResponse } from "./read-message.ts";

/** The resources of one type that a client holds after some responses, by name. */
export interface HeldState {
  readonly resources: ReadonlyMap<string, ReadResource>;
  apply(response: ReadResponse): void;
}

/**
 * A name for which the recorded state and the present state differ. A side that has no such
 * resource is absent.
 */
export interface HeldDifference {
  readonly name: string;
  readonly recorded?: ReadResource;
  readonly now?: ReadResource;
}

/**
 * Creates an empty state.
 *
 * @param isFullState - Whether a response contains the full state, so that a resource that it
 * leaves out is removed
 */
export function createHeldState(isFullState: boolean): HeldState {
  const resources = new Map<string, ReadResource>();
  return {
    resources,
    apply(response) {
      if (isFullState) resources.clear();
      for (const resource of response.resources)
        resources.set(resource.name, { ...resource, payload: Uint8Array.from(resource.payload) });
      for (const name of response.removed) resources.delete(name);
    },
  };
}

/**
 * Returns the names whose content differs. Versions are not compared, because each server chooses
 * its own.
 */
export function heldDifferences(recorded: HeldState, now: HeldState): readonly HeldDifference[] {
  const names = [...new Set([...recorded.resources.keys(), ...now.resources.keys()])].sort();
  return names.flatMap((name) => {
    const [one, other] = [recorded.resources.get(name), now.resources.get(name)];
    if (
      one?.type === other?.type &&
      Buffer.compare(one?.payload ?? none, other?.payload ?? none) === 0
    )
      return [];
    return [
      {
        name,
        ...(one !== undefined && { recorded: one }),
        ...(other !== undefined && { now: other }),
      },
    ];
  });
}

const none = new Uint8Array();
