import { XdsError, type StoredResource } from "@xdstp/core";

import { BaseWatch } from "./read-watch.ts";
import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import { nextNameState, requested } from "./name-state.ts";
import {
  type Snapshot,
  type TypeSource,
  type ValueOf,
  type Watch,
  watchedType,
  type WatchedType,
  type WatchOptions,
} from "./watch.ts";

/** Watches one name. */
export function watchName<S extends TypeSource<unknown>>(
  hub: Hub,
  source: S,
  name: string,
  options: WatchOptions<ValueOf<S>>,
): Watch<Snapshot<ValueOf<S>>> {
  return new NameWatch<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

class NameWatch<T> extends BaseWatch<Snapshot<T>> {
  readonly #decoder: Decoder<T>;
  #state = requested;
  /** Why a resource that was cached before the watch began cannot be used. undefined: it has begun, and what comes is checked before it is cached. */
  #judge: ((resource: StoredResource) => XdsError | undefined) | undefined;

  constructor(
    hub: Hub,
    source: TypeSource<T>,
    name: string,
    { validate, signal, ...nameOptions }: WatchOptions<T>,
  ) {
    const type = watchedType(source) as WatchedType<T>;
    const decoder = hub.decoder<T>(source, type);
    super(hub, {
      typeUrl: type.typeUrl,
      name,
      options: nameOptions,
      check: (resource, checked) => decoder.check(resource, checked, validate),
    });
    this.#decoder = decoder;
    this.#judge = (resource) => decoder.check(resource, resource.name, validate);
    this.begin(signal);
    this.#judge = undefined;
  }

  wake(): void {
    // A resource that is read by an alias was validated under its own name.
    const judge = this.#judge ?? ((resource) => faultOf(this.#decoder, resource));
    const next = nextNameState(this.#state, this.topic, this.isSupply(), judge);
    if (next === this.#state) return;
    this.#state = next;
    this.announce(() => this.#snapshot());
  }

  #snapshot(): Snapshot<T> | undefined {
    const state = this.#state;
    switch (state.kind) {
      case "requested":
        return undefined;
      case "cached": {
        const { resource, error } = state;
        return {
          name: this.name,
          value: this.#decoder.read(resource),
          version: resource.given,
          ...(error !== undefined && { error: this.hub.tell(error) }),
        };
      }
      case "rejected":
      case "missing":
      case "late":
        return { name: this.name, version: "", error: this.hub.tell(state.error) };
    }
  }
}

/** Why a cached resource cannot be read; it is kept decoded where it can. */
function faultOf(decoder: Decoder<unknown>, resource: StoredResource): XdsError | undefined {
  try {
    decoder.read(resource);
    return undefined;
  } catch (failure) {
    return XdsError.from(failure);
  }
}
