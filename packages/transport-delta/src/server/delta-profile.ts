import type { Entry, XdsError } from "@xdstp/core";
import { concatBytes, fieldHead, lengthDelimited } from "@xdstp/core/wire";
import {
  controlPlaneFields,
  createFrame,
  encodeHeartbeat,
  encodeResourceError,
  type Fields,
  type Frame,
  type FrameProfile,
  type Frames,
  isDataError,
  sizeOf,
  splitFields,
  tooLarge,
  withHeartbeats,
} from "@xdstp/protocol/server";

const SYSTEM_VERSION_INFO = 1;
const RESOURCES = 2;
const TYPE_URL = 4;
const REMOVED_RESOURCES = 6;
const REMOVED_RESOURCE_NAMES = 8;
const CONTROL_PLANE = 7;
const RESOURCE_ERRORS = 9;
const NAME = 3;
const RESOURCE_NAME = 8;
/** Field numbers of `ResourceName`. */
const VARIANT = { name: 1, constraints: 2 } as const;

/** The settings that all responses of a type have in common. */
export interface DeltaProfileOptions {
  readonly typeUrl: string;
  readonly controlPlane: string;
  /**
   * The greatest size of a response in bytes; a larger one is split into parts that are complete in
   * themselves (S-SIZE-2).
   */
  readonly responseBytes: number;
  /** True if TTLs and heartbeats are sent (S-TTL-1). Absent: false. */
  readonly ttl?: boolean;
  /** True if a resource that is too large is sent as an error (S-SIZE-4). Absent: false. */
  readonly errors?: boolean;
}

/** Creates the profile that encodes entries of a type as `DeltaDiscoveryResponse`s. */
export function createDeltaProfile(options: DeltaProfileOptions): FrameProfile {
  const profile = profileWith(options, (sent) => sent);
  if (options.ttl !== true) return profile;
  return withHeartbeats(profile, (ttlMs) =>
    profileWith(options, ({ entry }) => beatOf(entry, ttlMs)),
  );
}

interface Sent {
  readonly entry: Entry;
  readonly fields: Fields;
}

/** Returns the fields to send for an entry that fits into a response. undefined: none. */
type Pick = (sent: Sent) => Sent | undefined;

function profileWith(options: DeltaProfileOptions, pick: Pick): FrameProfile {
  const typeUrl = lengthDelimited(TYPE_URL, options.typeUrl);
  const controlPlane = controlPlaneFields(CONTROL_PLANE, options.controlPlane);
  return {
    said: (entry) => concatBytes(encodeEntry(entry, options.ttl === true)),
    encode(entries, version) {
      const common = [lengthDelimited(SYSTEM_VERSION_INFO, version), typeUrl, ...controlPlane];
      const room = options.responseBytes - sizeOf(common) - 32;
      const [only] = entries;
      if (only !== undefined && entries.length === 1) {
        const fields = encodeEntry(only, options.ttl === true);
        const picked = sizeOf(fields) > room ? undefined : pick({ entry: only, fields });
        if (picked !== undefined) return framesOfOne(version, picked, common);
      }
      const sent = entries.map((entry): Sent => ({
        entry,
        fields: encodeEntry(entry, options.ttl === true),
      }));
      const large = sent.filter(({ fields }) => sizeOf(fields) > room);
      const fitting = large.length === 0 ? sent : withoutLarge(sent, large, options, room);
      const picked = fitting.flatMap((one) => pick(one) ?? []);
      const parts =
        picked.length === 0 && entries.length > 0 ? [] : splitFields(together(picked), room);
      return {
        version,
        list: parts.map((part): Frame => createFrame([...common, ...part])),
        resources: picked.filter(({ entry }) => entry.resource !== undefined).length,
        removed: picked.filter(({ entry }) => entry.resource === undefined).length,
        notSent: large.map(({ entry, fields }) => ({
          name: entry.name,
          reason: "too-large" as const,
          bytes: sizeOf(fields),
          limit: "responseBytes" as const,
        })),
        batch: undefined,
      } satisfies Frames;
    },
  };
}

/** Returns the frames of one entry that fits, which is the usual change. */
function framesOfOne(version: string, { entry, fields }: Sent, common: Fields): Frames {
  const isRemoved = entry.resource === undefined;
  return {
    version,
    list: [createFrame([...common, ...fields])],
    resources: isRemoved ? 0 : 1,
    removed: isRemoved ? 1 : 0,
    notSent: NONE,
    batch: undefined,
  };
}

const NONE: Frames["notSent"] = [];

/** Returns what is sent if some resources are too large. */
function withoutLarge(
  sent: readonly Sent[],
  large: readonly Sent[],
  options: DeltaProfileOptions,
  room: number,
): readonly Sent[] {
  const isLarge = new Set(large);
  const tooLong = new Set(large.map(({ entry }) => entry.name));
  return sent.flatMap((one) =>
    isLarge.has(one) ? instead(one, options, room) : isKept(one, tooLong) ? [] : one,
  );
}

/**
 * Returns true if a removed variant stays with the client, since the variant that replaces it
 * cannot be sent (S-SIZE-4).
 */
function isKept(
  { entry: { name, constraints, resource } }: Sent,
  tooLong: ReadonlySet<string>,
): boolean {
  return resource === undefined && constraints !== undefined && tooLong.has(name);
}

/** Returns what is sent in place of a resource that is too large. */
function instead(
  { entry: { revision, since, superseded, name }, fields }: Sent,
  { errors }: DeltaProfileOptions,
  room: number,
): readonly Sent[] {
  return errors === true
    ? [
        {
          entry: { revision, since, superseded, name },
          fields: [
            lengthDelimited(
              RESOURCE_ERRORS,
              encodeResourceError(name, tooLarge(sizeOf(fields), room)),
            ),
          ],
        },
      ]
    : [];
}

/**
 * Returns the heartbeat of an entry that the client was sent. undefined: it has another TTL, or
 * none.
 */
function beatOf(entry: Entry, ttlMs: number): Sent | undefined {
  const { resource } = entry;
  return resource?.ttlMs === ttlMs
    ? { entry, fields: [lengthDelimited(RESOURCES, encodeHeartbeat(entry, resource))] }
    : undefined;
}

function encodeEntry({ name, resource, error, constraints }: Entry, ttl: boolean): Fields {
  if (resource === undefined) return encodeAbsence(name, error, constraints);
  const wire =
    ttl || resource.wire.length === resource.bare
      ? resource.wire
      : resource.wire.subarray(0, resource.bare);
  if (name === resource.name) return [fieldHead(RESOURCES, wire.length), wire];
  // The answer has the requested spelling (N-42): of a singular field the last occurrence counts,
  // and messages are merged.
  const spelled =
    resource.constraints === undefined
      ? lengthDelimited(NAME, name)
      : lengthDelimited(RESOURCE_NAME, lengthDelimited(VARIANT.name, name));
  return [fieldHead(RESOURCES, wire.length + spelled.length), wire, spelled];
}

/**
 * Encodes that a name has no resource, or why it is not available. A transient error must not
 * remove the resource that the client has (S-ERR-3).
 */
function encodeAbsence(
  name: string,
  error: Entry["error"],
  constraints: Uint8Array | undefined,
): Fields {
  const removed = isDataError(error) ? [encodeRemoval(name, constraints)] : [];
  return error === undefined || !isTold(error)
    ? removed
    : [...removed, lengthDelimited(RESOURCE_ERRORS, encodeResourceError(name, error))];
}

/**
 * Returns true if an error is sent. A missing name is sent as a removal only, whatever the text of
 * its error (S-ERR-3).
 */
function isTold({ code }: XdsError): boolean {
  return code !== "NOT_FOUND";
}

/** Encodes a removal. A variant is removed by its name and constraints (S-DYN-5). */
function encodeRemoval(name: string, constraints: Uint8Array | undefined): Uint8Array {
  if (constraints === undefined) return lengthDelimited(REMOVED_RESOURCES, name);
  return lengthDelimited(
    REMOVED_RESOURCE_NAMES,
    concatBytes([
      lengthDelimited(VARIANT.name, name),
      lengthDelimited(VARIANT.constraints, constraints),
    ]),
  );
}

/**
 * Returns the fields of each name as one group, so that a variant and the removal of the one that
 * it replaces are in the same part (S-DYN-5).
 */
function together(sent: readonly Sent[]): readonly Fields[] {
  if (
    !sent.some(
      ({ entry: { resource, constraints } }) =>
        (resource?.constraints ?? constraints) !== undefined,
    )
  )
    return sent.map(({ fields }) => fields);
  const byName = new Map<string, readonly Uint8Array[]>();
  for (const {
    entry: { name },
    fields,
  } of sent)
    byName.set(name, [...(byName.get(name) ?? []), ...fields]);
  return [...byName.values()];
}
