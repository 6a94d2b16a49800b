import type { Interest, Reference, ResourceSource, XdsError } from "@xdstp/core";

import type { Hub } from "../hub.ts";
import { referenceKey } from "./graph.ts";

/** Where what a reference names is looked up, if not in the source of the graph: a ConfigSource stands next to it. */
export interface Place {
  /** Tells it from other places. */
  readonly id: string;
  readonly source: ResourceSource;
  /** Called when a name begins to be wanted there; gives what ends it. */
  onWanted(typeUrl: string, interest: Interest): () => void;
}

/** A reference, and its key. */
export interface KeyedReference extends Reference {
  readonly key: string;
  /** The place of the referenced resource. Absent: the source of the graph. */
  readonly at?: Place;
  /** The place of the referring resource, for `within`. Absent: the source of the graph. */
  readonly from?: Place | undefined;
  /** The reason why no server is known for the reference. */
  readonly fault?: XdsError;
}

/** Finds the place of a reference with a ConfigSource, by where the referring resource has come from; undefined: the source of the graph. Throws an XdsError where it cannot be asked. */
export type PlaceOf = (reference: Reference, from: Place | undefined) => Place | undefined;

/**
 * A reference, keyed by its name and its place, and by where what it names takes the rest from.
 * @param from - Where the resource that refers to it is looked up
 */
export function placed(
  { typeUrl, name, within }: Reference,
  at: Place | undefined,
  from?: Place,
): KeyedReference {
  const key = referenceKey({ typeUrl, name });
  const there =
    at === undefined ? { typeUrl, name, key } : { typeUrl, name, key: `${key}\n@${at.id}`, at };
  return within === undefined
    ? there
    : {
        ...there,
        key: `${there.key}\n<${from?.id ?? ""} ${within.source?.join() ?? "file"}`,
        within,
        from,
      };
}

/** One that cannot be looked up. */
export function unplaced({ typeUrl, name }: Reference, fault: XdsError): KeyedReference {
  return { typeUrl, name, key: `${referenceKey({ typeUrl, name })}\n@`, fault };
}

/** Where the names of payloads are looked up. */
export interface WalkHubs {
  readonly ordinary: Hub;
  /** By the ConfigSource next to the name, and the hub that the payload has come from. Throws an XdsError where it cannot be asked. */
  ofReference(reference: Reference, from: Hub): Hub;
}

/** The places of a walk: hubs other than the ordinary one. */
interface Places {
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
