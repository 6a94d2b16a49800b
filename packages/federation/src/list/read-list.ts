import {
  decodeLatin1,
  encodeText,
  type ListEntry,
  walkList,
  walkFields,
  WireType,
} from "@xdstp/core/wire";
import type { AnyBytes, Fault, Resource } from "@xdstp/core";
import { ResourceLocatorSchema, type Located } from "@xdstp/protos/xds";
import {
  collectionTypeOf,
  type Locator,
  locatorFromMessage,
  type ResourceLocatorMessage,
  memberTypeOf,
} from "@xdstp/uri";
import { fromBinary } from "@bufbuild/protobuf";

import { locatorOf } from "../links/locator-of.ts";

/**
 * Reads the entries of a list collection in order (B-LIST-1). Returns a fault with the number of
 * the entry for an invalid list (B-LIST-3, B-LIST-4). Never throws, unless `faultOf` does.
 */
export function readList(
  { typeUrl, value: bytes }: AnyBytes,
  memberTypeUrl: string,
  {
    maxEntries = 100_000,
    faultOf,
  }: {
    /**
     * The maximum number of entries, since the sender is not trusted (C-LIM-7). Default: 100,000.
     */
    readonly maxEntries?: number;
    /**
     * Returns a fault for an inline entry whose form is valid; then it is a fault of the list.
     * Default: nothing.
     */
    readonly faultOf?: (
      entry: Extract<ListEntry, { readonly kind: "inline" }>,
    ) => Fault | undefined;
  } = {},
):
  | readonly (
      | Extract<ListEntry, { readonly kind: "inline" }>
      /** The resource is located elsewhere. */
      | { readonly kind: "locator"; readonly locator: Locator }
    )[]
  | Fault {
  if (typeUrl !== collectionTypeOf(memberTypeUrl))
    return {
      text: `it is a ${JSON.stringify(typeUrl)}; a list of these is a ${collectionTypeOf(memberTypeUrl)}`,
      rule: "B-LIST-1",
    };
  const value: (InlineEntry | LocatedEntry)[] = [];
  const fault = walkList(bytes, memberTypeUrl, (entry) => {
    if (value.length >= maxEntries)
      return {
        text: `is one too many: at most ${maxEntries} are accepted; list fewer, or raise maxEntries`,
        rule: "C-LIM-7",
      };
    const read = readEntry(entry);
    if ("text" in read) return read;
    value.push(read);
    return read.kind === "inline" ? faultOf?.(read) : undefined;
  });
  return fault ?? value;
}

/** An entry that contains the resource. */
export type InlineEntry = Extract<ListEntry, { readonly kind: "inline" }>;

/** An entry with the locator of a resource, which is subscribed by its name. */
export interface LocatedEntry {
  readonly kind: "locator";
  readonly locator: Locator;
}

function readEntry(entry: ListEntry): InlineEntry | LocatedEntry | Fault {
  if (entry.kind === "inline") return entry;
  const locator = readEntryLocator(entry.locator);
  return "text" in locator
    ? { ...locator, text: `has a locator that cannot be read: ${locator.text}` }
    : { kind: "locator", locator };
}

const schemes = ["xdstp:", "http:", "file:"].map((scheme) => [...encodeText(scheme)]);

/** Returns the locator of an entry of a list, from either of its wire forms, or the problem. */
function readEntryLocator(bytes: Uint8Array): Locator | Fault {
  try {
    const plain = isText(bytes) ? undefined : readPlainLocator(bytes);
    const read = plain === undefined ? undefined : locatorFromMessage(plain);
    return read === undefined
      ? locatorOf(located(bytes))
      : read.ok
        ? read.value
        : { text: read.error.message, rule: read.error.rule };
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns true if the bytes are the text form of a locator. A message never begins with the bytes
 * of a scheme (N-82).
 */
function isText(bytes: Uint8Array): boolean {
  return schemes.some((scheme) => scheme.every((byte, at) => bytes[at] === byte));
}

function located(bytes: Uint8Array): Located {
  if (!isText(bytes)) return { form: "message", message: fromBinary(ResourceLocatorSchema, bytes) };
  return {
    form: "text",
    text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  };
}

const keys: Readonly<Partial<Record<number, "id" | "authority" | "resourceType">>> = {
  2: "id",
  3: "authority",
  4: "resourceType",
};

/**
 * Reads a `xds.core.v3.ResourceLocator` that has only an id, an authority and a type, in ASCII.
 * Returns `undefined` for any other locator. This is a fast path: nearly all locators in lists are
 * of this kind, and a list may have many.
 */
function readPlainLocator(bytes: Uint8Array): ResourceLocatorMessage | undefined {
  const text = decodeLatin1(bytes);
  if (/[\x80-\xff]/.test(text)) return undefined;
  const read: { id?: string; authority?: string; resourceType?: string } = {};
  const { outcome } = walkFields(bytes, (field, start, end, wireType) => {
    const key = wireType === WireType.LENGTH_DELIMITED ? keys[field] : undefined;
    if (key !== undefined) read[key] = text.slice(start, end);
    return key !== undefined;
  });
  return outcome === "complete" ? read : undefined;
}

/** Inline entries by name, or the fault of the list. */
type Read = ReadonlyMap<string, InlineEntry> | Fault;

/** Lists that were read, so that each is read once for all its entries. */
const known = new WeakMap<AnyBytes, Read>();

/**
 * Returns the inline entry of a list that a directive names (C-LIST-7), as a resource. Returns
 * `undefined` if the list does not have the entry, and a fault for an invalid list.
 */
export function entryNamed(
  { payload, ...list }: Resource,
  entry: string,
): Resource | Fault | undefined {
  const read = known.get(payload) ?? entriesOf(payload);
  known.set(payload, read);
  if ("text" in read) return read;
  const found = read.get(entry);
  return found === undefined
    ? undefined
    : { ...list, version: found.version, payload: found.payload };
}

function entriesOf(payload: AnyBytes): Read {
  const memberTypeUrl = memberTypeOf(payload.typeUrl);
  if (memberTypeUrl === undefined)
    return {
      text: `it is a ${JSON.stringify(payload.typeUrl)}, which is not a list`,
      rule: "B-LIST-1",
    };
  const read = readList(payload, memberTypeUrl);
  return "text" in read
    ? read
    : new Map(read.flatMap((one) => (one.kind === "inline" ? [[one.name, one] as const] : [])));
}
