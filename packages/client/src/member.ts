import type { StoredResource } from "@xdstp/core";

import type { Decoder } from "./decoder.ts";

/** One resource of a collection. */
export interface Member<T> {
  /** The full xdstp name, or an opaque name. */
  readonly name: string;
  /** The version that the server gave, or a hash of the content if it gave none (S-VER-4). */
  readonly version: string;
  /**
   * The message, decoded when it is first read. Throws if it cannot be decoded, which only happens
   * with `decode: "on-demand"`.
   */
  readonly value: T;
}

/**
 * Creates a member for a cached resource. Until its value is read, it costs three references.
 * `name` is the name of the entry, since a resource that is reached by a link may have another
 * name.
 */
export function createMember<T>(
  decoder: Decoder<T>,
  name: string,
  resource: StoredResource,
): Member<T> {
  return new CollectionMember(decoder, name, resource);
}

/**
 * Returns true if a member has this content. Compares our version, since the content may differ
 * under the same version of the server (B-VER-5).
 */
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
  /** Our version of the resource, unique for each content. */
  get servedAs(): string {
    return this.#resource.version;
  }
  get value(): T {
    return this.#decoder.read(this.#resource);
  }
}
