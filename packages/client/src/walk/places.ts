import type { Interest, Reference, ResourceSource, XdsError } from "@xdstp/core";

import type { Hub } from "../hub.ts";
import { referenceKey } from "./graph.ts";

/**
 * The source in which a reference with a ConfigSource is looked up, if it is not the source of the
 * graph.
 */
export interface Place {
  /** A unique id. */
  readonly id: string;
  readonly source: ResourceSource;
  /** Called when a name is first needed there. Returns a function that ends the need. */
  onWanted(typeUrl: string, interest: Interest): () => void;
  /** See `GraphWatchOptions`. */
  readonly restoredAt?: Hub["restoredAt"];
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

/**
 * Finds the place of a reference with a ConfigSource. `from` is the place of the referring
 * resource. `undefined`: the source of the graph. Throws an XdsError if the reference cannot be
 * requested.
 */
export type PlaceOf = (reference: Reference, from: Place | undefined) => Place | undefined;

/**
 * Returns a reference with a key of its name and place and, with `within`, of the place and
 * ConfigSource that the resource's own references come from.
 * @param from - The place of the referring resource
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

/** Returns a reference that cannot be looked up. */
export function unplaced({ typeUrl, name }: Reference, fault: XdsError): KeyedReference {
  return { typeUrl, name, key: `${referenceKey({ typeUrl, name })}\n@`, fault };
}

/** The hubs in which the names of payloads are looked up. */
export interface WalkHubs {
  readonly ordinary: Hub;
  /**
   * Returns the hub for a reference with a ConfigSource, in a payload that `from` has delivered.
   * Throws an XdsError if the reference cannot be requested.
   */
  ofReference(reference: Reference, from: Hub): Hub;
}

/** The places of a walk: hubs other than the ordinary one. */
interface Places {
  readonly of: PlaceOf;
  /** Returns `undefined` for the ordinary hub. */
  at(hub: Hub): Place | undefined;
}

/** Creates the places for hubs. A hub is in use as long as a name is subscribed in it. */
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
      restoredAt: hub.restoredAt,
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
