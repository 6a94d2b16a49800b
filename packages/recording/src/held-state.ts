import type { ReadResource, ReadResponse } from "./read-message.ts";

/** What a client holds of one type after some responses, by name. */
export interface HeldState {
  readonly resources: ReadonlyMap<string, ReadResource>;
  apply(response: ReadResponse): void;
}

/** One name that two sides hold differently. Absent: that side has none. */
export interface HeldDifference {
  readonly name: string;
  readonly recorded?: ReadResource;
  readonly now?: ReadResource;
}

/** Begins with nothing. @param isFullState - A response is the full state: what it leaves out is removed */
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

/** Where the content differs. Versions are a server's own business. */
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
