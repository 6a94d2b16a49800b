import type { StoredResource } from "@xdstp/core";

import type { Decoder } from "./decoder.ts";

/** One resource of a collection. */
export interface Member<T> {
  readonly name: string;
  readonly version: string;
  /** The message, decoded when it is read for the first time. Throws where it cannot be, which only happens with `decode: "on-demand"`. */
  readonly value: T;
}

/** A member over what the cache holds; costs two references until it is read. */
export function createMember<T>(decoder: Decoder<T>, resource: StoredResource): Member<T> {
  return new CollectionMember(decoder, resource);
}

class CollectionMember<T> implements Member<T> {
  readonly #decoder: Decoder<T>;
  readonly #resource: StoredResource;

  constructor(decoder: Decoder<T>, resource: StoredResource) {
    this.#decoder = decoder;
    this.#resource = resource;
  }

  get name(): string { return this.#resource.name; }
  get version(): string { return this.#resource.version; }
  get value(): T { return this.#decoder.read(this.#resource); }
}
