import type { AnyBytes, Resource, StoredResource } from "@xdstp/core";
import { byteLength, equalBytes } from "@xdstp/core/wire";

import { contentVersion, resourceHash, valueFieldLength } from "./content-version.ts";
import { fieldLength, ProtobufWriter, scratchWriter } from "./protobuf-writer.ts";

/** A resource in the form of the cache: one buffer, and the positions in it. */
export class KeptResource implements StoredResource {
  readonly name: string;
  readonly version: string;
  /** The version as the feed gave it; empty if the cache derived one. */
  readonly stated: string;
  readonly wire: Uint8Array;
  readonly bare: number;
  readonly hash: number;
  // Few resources have these, so the others have no fields for them.
  declare readonly aliases?: readonly string[];
  declare readonly ttlMs?: number;
  declare readonly noStore?: boolean;
  declare readonly constraints?: Uint8Array;
  declare readonly metadata?: Uint8Array;
  readonly #typeUrl: string;
  readonly #anyStart: number;
  readonly #anyEnd: number;
  readonly #valueLength: number;

  constructor(resource: Resource, version: string) {
    const form = encode(resource, version);
    this.name = resource.name;
    this.version = version;
    this.stated = resource.version;
    this.wire = form.wire;
    this.bare = form.bare;
    this.hash = resourceHash(resource.name, version);
    if (resource.aliases !== undefined && resource.aliases.length > 0)
      this.aliases = [...resource.aliases];
    if (resource.ttlMs !== undefined) this.ttlMs = resource.ttlMs;
    if (resource.noStore === true) this.noStore = true;
    if (form.constraints !== undefined) this.constraints = form.constraints;
    if (form.metadata !== undefined) this.metadata = form.metadata;
    this.#typeUrl = resource.payload.typeUrl;
    this.#anyStart = form.anyStart;
    this.#anyEnd = form.anyEnd;
    this.#valueLength = resource.payload.value.length;
  }

  get given(): string {
    return this.stated === "" ? this.version : this.stated;
  }

  get any(): readonly [start: number, end: number] {
    return [this.#anyStart, this.#anyEnd];
  }

  get payload(): AnyBytes {
    return {
      typeUrl: this.#typeUrl,
      value: this.wire.subarray(this.#anyEnd - this.#valueLength, this.#anyEnd),
    };
  }

  /**
   * Returns true if the content equals that of `other`; version, TTL and cache control do not
   * count.
   */
  hasContentOf(other: Resource): boolean {
    return (
      this.#typeUrl === other.payload.typeUrl &&
      isSame(this.payload.value, other.payload.value) &&
      equalLists(this.aliases ?? [], other.aliases ?? []) &&
      isSame(this.constraints, other.constraints) &&
      isSame(this.metadata, other.metadata)
    );
  }
}

interface WireForm {
  readonly wire: Uint8Array;
  readonly bare: number;
  readonly anyStart: number;
  readonly anyEnd: number;
  readonly constraints: Uint8Array | undefined;
  readonly metadata: Uint8Array | undefined;
}

/**
 * Encodes a resource: fields in the order of their numbers, except for the TTL (6), which comes
 * last so that it can be cut off.
 */
function encode(resource: Resource, version: string): WireForm {
  const { name, payload, constraints, metadata } = resource;
  const sizes = measure(resource, version);
  const ttl = resource.ttlMs === undefined ? undefined : duration(resource.ttlMs);
  const writer = scratchWriter(sizes.bare + (ttl === undefined ? 0 : fieldLength(ttl.length)));
  writer.text(1, version, sizes.version);
  const anyStart = writer.position;
  writer.header(2, sizes.any);
  writer.text(1, payload.typeUrl, sizes.type);
  if (payload.value.length > 0) writer.block(2, payload.value);
  const anyEnd = writer.position;
  if (constraints === undefined) writer.text(3, name, sizes.name);
  for (const alias of resource.aliases ?? []) writer.text(4, alias, byteLength(alias));
  if (resource.noStore === true) writer.block(7, DO_NOT_CACHE);
  if (constraints !== undefined) writeResourceName(writer, name, sizes.name, constraints);
  const constraintsEnd = writer.position;
  if (metadata !== undefined) writer.block(9, metadata);
  const metadataEnd = writer.position;
  if (ttl !== undefined) writer.block(6, ttl);
  // A buffer of its own, since a slice of a pool would keep the whole pool in memory.
  const wire = writer.copy();
  return {
    wire,
    bare: sizes.bare,
    anyStart,
    anyEnd,
    constraints:
      constraints === undefined
        ? undefined
        : wire.subarray(constraintsEnd - constraints.length, constraintsEnd),
    metadata:
      metadata === undefined
        ? undefined
        : wire.subarray(metadataEnd - metadata.length, metadataEnd),
  };
}

interface Sizes {
  readonly version: number;
  readonly type: number;
  readonly any: number;
  readonly name: number;
  readonly bare: number;
}

function measure(resource: Resource, version: string): Sizes {
  const { payload, constraints, metadata } = resource;
  const versionLength = byteLength(version);
  const type = byteLength(payload.typeUrl);
  const any = fieldLength(type) + valueFieldLength(payload.value);
  const name = byteLength(resource.name);
  let bare = fieldLength(versionLength) + fieldLength(any);
  bare +=
    constraints === undefined
      ? fieldLength(name)
      : fieldLength(fieldLength(name) + fieldLength(constraints.length));
  for (const alias of resource.aliases ?? []) bare += fieldLength(byteLength(alias));
  if (resource.noStore === true) bare += fieldLength(DO_NOT_CACHE.length);
  if (metadata !== undefined) bare += fieldLength(metadata.length);
  return { version: versionLength, type, any, name, bare };
}

/** `CacheControl { do_not_cache: true }` */
const DO_NOT_CACHE = Uint8Array.of(0x08, 0x01);

/** Writes an `envoy.service.discovery.v3.ResourceName`: the name with its constraints (S-DYN-2). */
function writeResourceName(
  writer: ProtobufWriter,
  name: string,
  nameLength: number,
  constraints: Uint8Array,
): void {
  writer.header(8, fieldLength(nameLength) + fieldLength(constraints.length));
  writer.text(1, name, nameLength);
  writer.block(2, constraints);
}

/** Encodes milliseconds as a `google.protobuf.Duration`; fractions of a nanosecond are dropped. */
function duration(ms: number): Uint8Array {
  const seconds = Math.floor(ms / 1000);
  const nanos = Math.floor((ms - seconds * 1000) * 1e6);
  const writer = new ProtobufWriter(20);
  if (seconds > 0) writer.number(1, seconds);
  if (nanos > 0) writer.number(2, nanos);
  return writer.written;
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equalBytes(a, b);
}

function equalLists(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/**
 * Resources that were encoded before they are put, by object. A copy of the object, for example
 * with another name, is encoded when it is put.
 */
const encoded = new WeakMap<Resource, KeptResource>();

/** Encodes a resource before it is put. */
export function encodeAhead(resource: Resource): void {
  try {
    encoded.set(resource, encodeResource(resource));
  } catch {
    // A resource that cannot be encoded is rejected by the commit, with the reason.
  }
}

/**
 * Returns a resource in the form of the cache. Its version is its own, or the hash of its content
 * if it has none (S-VER-4).
 */
export function keptResource(resource: Resource): KeptResource {
  return encoded.get(resource) ?? encodeResource(resource);
}

function encodeResource(resource: Resource): KeptResource {
  return new KeptResource(
    resource,
    resource.version === "" ? contentVersion(resource) : resource.version,
  );
}

/**
 * Encodes a resource once for all readers, as the cache does. A resource without a version gets the
 * one of its content (S-VER-4).
 * Nothing is checked: `put` does that.
 */
export function keepResource(resource: Resource): StoredResource {
  return keptResource(resource);
}
