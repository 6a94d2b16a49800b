import type { Entry, StoredResource } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import {
  controlPlaneFields,
  createFrame,
  encodeHeartbeat,
  encodeResourceError,
  type FrameProfile,
  type Frames,
  type NotSent,
  sizeOf,
  splitFields,
  tooLarge,
  withHeartbeats,
} from "@xdstp/protocol/server";

const VERSION_INFO = 1;
const RESOURCES = 2;
const TYPE_URL = 4;
const CONTROL_PLANE = 6;
const RESOURCE_ERRORS = 7;
const ANY = { typeUrl: 1, value: 2 } as const;
const NAME = 3;
const RESOURCE_NAME = 8;
/** The field number of the name in `ResourceName`. */
const OF_VARIANT = 1;
const WRAPPER = "type.googleapis.com/envoy.service.discovery.v3.Resource";

/** The settings that all responses of a type to clients of one kind have in common. */
export interface SotwProfileOptions {
  readonly typeUrl: string;
  readonly controlPlane: string;
  /** True if the payload has the name, by which an unwrapped resource is identified (B-WRAP-4). */
  readonly named: boolean;
  /** True if the client reads resources that are wrapped in `Resource` (S-WRAP-2). */
  readonly wrap: boolean;
  /** The greatest size of a response in bytes. */
  readonly responseBytes: number;
  /** True if a larger response may be sent in parts (S-SIZE-3). */
  readonly mayBeSplit: boolean;
  /** True if TTLs and heartbeats are sent (S-TTL-1); requires `wrap`. Absent: false. */
  readonly ttl?: boolean;
  /**
   * True if a resource that is too large is sent as an error. Only in responses with changes: a
   * full state would repeat it each time (S-SIZE-4, S-ERR-1). Absent: false.
   */
  readonly errors?: boolean;
}

interface Encoded {
  readonly entry: Entry;
  readonly field: Uint8Array | undefined;
}

/** Creates the profile that encodes entries of a type as `DiscoveryResponse`s. */
export function createSotwProfile(options: SotwProfileOptions): FrameProfile {
  const profile = profileWith(options, (encoded) => encoded, encodeError);
  if (options.ttl !== true) return profile;
  return withHeartbeats(profile, (ttlMs) =>
    profileWith(
      options,
      (encoded, room) =>
        options.mayBeSplit ? beatOnly(encoded, ttlMs, room) : beatOrWhole(encoded, room),
      () => [],
    ),
  );
}

/** Returns what is sent of an entry. undefined: nothing. */
type Choose = (encoded: Encoded, room: number) => Encoded | undefined;

/**
 * Returns the heartbeat of an entry. undefined: it has another TTL, or none, or was too large to be
 * sent, so that the client does not have it.
 */
function beatOnly(encoded: Encoded, ttlMs: number, room: number): Encoded | undefined {
  const {
    entry: { resource },
    field,
  } = encoded;
  return resource?.ttlMs === ttlMs && field !== undefined && field.length <= room
    ? beatOrWhole(encoded, room)
    : undefined;
}

/**
 * Returns an entry for the heartbeat of a full state, which has to have every resource: the client
 * would delete those that it leaves out (S-TTL-8).
 */
function beatOrWhole(encoded: Encoded, room: number): Encoded {
  const {
    entry,
    entry: { resource },
    field,
  } = encoded;
  return resource?.ttlMs === undefined || field === undefined || field.length > room
    ? encoded
    : { entry, field: inWrapper(encodeHeartbeat(entry, resource)) };
}

function profileWith(
  options: SotwProfileOptions,
  choose: Choose,
  errorOf: (entry: Entry) => readonly Uint8Array[],
): FrameProfile {
  const typeUrl = lengthDelimited(TYPE_URL, options.typeUrl);
  const controlPlane = controlPlaneFields(CONTROL_PLANE, options.controlPlane);
  return {
    said: (entry) => encodeEntry(entry, options) ?? concatBytes(encodeError(entry)),
    encode(entries, version) {
      const headOf = (versionInfo: string): readonly Uint8Array[] => [
        lengthDelimited(VERSION_INFO, versionInfo),
        typeUrl,
        ...controlPlane,
      ];
      const common = headOf(version);
      const room = options.responseBytes - sizeOf(common) - 32;
      const all = entries
        .filter(({ resource }) => resource !== undefined)
        .flatMap((entry) => choose({ entry, field: encodeEntry(entry, options) }, room) ?? []);
      const fields = all.flatMap(({ field }) =>
        field === undefined || field.length > room ? [] : [field],
      );
      const errors = [
        ...entries.flatMap(errorOf),
        ...(options.errors === true && options.mayBeSplit
          ? all.flatMap((one) => tooLargeOf(one, room))
          : []),
      ];
      const isUnsaid =
        isEmptied(all, fields, options.mayBeSplit) && (errors.length === 0 || !options.mayBeSplit);
      const parts = isUnsaid ? [] : partsOf([...fields, ...errors], room, options.mayBeSplit);
      return {
        version,
        list: parts.map((part, index) =>
          createFrame([
            ...(index === parts.length - 1 ? common : headOf(partVersion(version, index))),
            ...part,
          ]),
        ),
        resources: fields.length,
        removed: 0,
        notSent: all.flatMap((one) =>
          notSent(one, { room, options, stateBytes: parts.length === 0 ? sizeOf(fields) : 0 }),
        ),
        batch: undefined,
      } satisfies Frames;
    },
  };
}

/**
 * Returns the version of a part. A client that is cut off after a part must not reconnect with the
 * version of the whole, since it would count as having that (S-SIZE-3, S-RECON-7).
 */
function partVersion(version: string, index: number): string {
  return `${version}/${index + 1}`;
}

/**
 * Returns true if none of the resources can be sent. In a full state, where absence deletes, a
 * resource that needs a wrapper counts as missing, but one that is too large does not (S-SIZE-4,
 * S-WRAP-3).
 */
function isEmptied(
  all: readonly Encoded[],
  fields: readonly Uint8Array[],
  mayBeSplit: boolean,
): boolean {
  return (
    all.length > 0 &&
    fields.length === 0 &&
    (mayBeSplit || all.some(({ field }) => field !== undefined))
  );
}

/**
 * Returns the parts of a response. There are none if a state that cannot be split is larger than a
 * response may be.
 */
function partsOf(
  fields: readonly Uint8Array[],
  room: number,
  mayBeSplit: boolean,
): readonly (readonly Uint8Array[])[] {
  if (mayBeSplit)
    return splitFields(
      fields.map((field) => [field]),
      room,
    );
  return sizeOf(fields) <= room ? [fields] : [];
}

/** The reason why nothing of a state, or a part of it, is sent. */
interface Excess {
  readonly room: number;
  readonly options: SotwProfileOptions;
  /** The size of a state of which nothing is sent, since it cannot be split; else 0. */
  readonly stateBytes: number;
}

function notSent(
  { entry: { name }, field }: Encoded,
  { room, options: { mayBeSplit }, stateBytes }: Excess,
): readonly NotSent[] {
  if (field === undefined) return [{ name, reason: "needs-wrapper" }];
  const bytes = Math.max(stateBytes, field.length);
  return bytes > room
    ? [{ name, reason: "too-large", bytes, limit: mayBeSplit ? "responseBytes" : "fullStateBytes" }]
    : [];
}

/** Encodes the error of a name without a resource (S-ERR-1). */
function encodeError({ name, resource, error }: Entry): readonly Uint8Array[] {
  return resource !== undefined || error === undefined
    ? []
    : [lengthDelimited(RESOURCE_ERRORS, encodeResourceError(name, error))];
}

function tooLargeOf({ entry: { name }, field }: Encoded, room: number): readonly Uint8Array[] {
  return field === undefined || field.length <= room
    ? []
    : [lengthDelimited(RESOURCE_ERRORS, encodeResourceError(name, tooLarge(field.length, room)))];
}

/**
 * Encodes an entry. undefined: it cannot be sent to a client that does not read wrapped resources
 * (S-WRAP-3).
 */
function encodeEntry(
  { name, resource }: Entry,
  { typeUrl, named, wrap, ttl = false }: SotwProfileOptions,
): Uint8Array | undefined {
  if (resource === undefined) return undefined;
  const needsWrapper =
    !named || resource.payload.typeUrl !== typeUrl || resource.constraints !== undefined;
  if (needsWrapper && !wrap) return undefined;
  // A resource that cannot be wrapped is sent under the name in its payload, even if another
  // spelling was requested: clients that request such a spelling recognize the name.
  return wrap && (needsWrapper || name !== resource.name || (ttl && resource.ttlMs !== undefined))
    ? wrapped(name, resource, ttl)
    : resource.wire.subarray(...resource.any);
}

function wrapped(name: string, resource: StoredResource, ttl: boolean): Uint8Array {
  const wire = ttl ? resource.wire : resource.wire.subarray(0, resource.bare);
  // The last occurrence of a singular field counts: the requested name (N-42).
  return inWrapper(name === resource.name ? wire : concatBytes([wire, spelled(name, resource)]));
}

/** Encodes the requested name. Messages are merged, so the constraints stay. */
function spelled(name: string, { constraints }: StoredResource): Uint8Array {
  return constraints === undefined
    ? lengthDelimited(NAME, name)
    : lengthDelimited(RESOURCE_NAME, lengthDelimited(OF_VARIANT, name));
}

function inWrapper(value: Uint8Array): Uint8Array {
  return lengthDelimited(
    RESOURCES,
    concatBytes([lengthDelimited(ANY.typeUrl, WRAPPER), lengthDelimited(ANY.value, value)]),
  );
}
