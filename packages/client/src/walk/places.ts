import type { Interest, Reference } from "@xdstp/core";

import type { Hub } from "../hub.ts";
import type { Place, PlaceOf } from "./place.ts";

/** Where the names of payloads are looked up. */
export interface WalkHubs {
  readonly ordinary: Hub;
  /** By the ConfigSource next to the name, and the hub that the payload has come from. Throws an XdsError where it cannot be asked. */
  ofReference(reference: Reference, from: Hub): Hub;
}

/** The places of a walk: hubs other than the ordinary one. */
export interface Places {
  readonly of: PlaceOf;
  /** undefined: it is the ordinary one. */
  at(hub: Hub): Place | undefined;
}

/** Hubs as places; each is in use as long as a name is subscribed there. */
export function createPlaces(
  all: WalkHubs,
  check: (hub: Hub, typeUrl: string, interest: Interest) => () => void,
): Places {
  const places = new WeakMap<Hub, Place>();
  const hubs = new WeakMap<Place, Hub>();
  let made = 0;
  const make = (hub: Hub): Place => {
    const place: Place = {
      id: String(++made),
      source: hub.cache,
      onWanted: (typeUrl, interest) => wanted(hub, check(hub, typeUrl, interest)),
    };
    places.set(hub, place);
    hubs.set(place, hub);
    return place;
  };
  const at = (hub: Hub): Place | undefined =>
    hub === all.ordinary ? undefined : (places.get(hub) ?? make(hub));
  return {
    at,
    of: (reference, from) =>
      at(all.ofReference(reference, (from && hubs.get(from)) ?? all.ordinary)),
  };
}

function wanted(hub: Hub, uncheck: () => void): () => void {
  const use = { close: () => undefined };
  hub.open.add(use);
  return () => {
    uncheck();
    hub.open.delete(use);
  };
}
