import type { StoredResource } from "@xdstp/core";

import type { Decoder } from "./decoder.ts";

/** One resource of a collection. */
export interface Member<T> {
  /** The full name, or an opaque one. */
  readonly name: string;
  /** As the server gave it; one of its content where that gave none (S-VER-4). */
  readonly version: string;
  /** The message, decoded when it is read for the first time. Throws where it cannot be, which only happens with `decode: "on-demand"`. */
  readonly value: T;
}

/** A member over what the cache holds; costs three references until it is read. Its name is that of the entry: the resource may be reached by a link and have another. */
export function createMember<T>(
  decoder: Decoder<T>,
  name: string,
  resource: StoredResource,
): Member<T> {
  return new CollectionMember(decoder, name, resource);
}

/** Whether a member is of this state: the content may be another although its version is not (B-VER-5). */
export function isOf(member: Member<unknown> | undefined, resource: StoredResource): boolean {
  return member instanceof CollectionMember && member.servedAs === resource.version;
}

class CollectionMember<T> implements Member<T> {
  readonly name: string;
  readonly #decoder: Decoder<T>;
  readonly #resource: StoredResource;

  constructor(decoder: Decoder<T>, name: string, resource: StoredResource) {
    this.name = name;
    this.#decoder = decoder;
    this.#resource = resource;
  }

  get version(): string {
    return this.#resource.given;
  }
  /** Unique for each content. */
  get servedAs(): string {
    return this.#resource.version;
  }
  get value(): T {
    return this.#decoder.read(this.#resource);
  }
}
