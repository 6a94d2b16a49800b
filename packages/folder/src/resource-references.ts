import type { AnyBytes, Reference } from "@xdstp/core";
import { type ListEntry, walkList } from "@xdstp/core/wire";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { typeUrlOf } from "@xdstp/resource-types";
import { memberTypeOf, nameFromLocator, nameKey, printName, typeFromTypeUrl } from "@xdstp/uri";
import { isList } from "./check-resource.ts";
import type { FolderContext } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { locatorOfBytes, locatorOfEntry } from "./locators.ts";

/** Returns the references of a resource. Those of a list are the locators of its entries and the references of inline entries; that of a redirect is its target. */
export function referencesOfEntry(
  { typeUrl, put }: Pick<FolderEntry, "typeUrl" | "put">,
  context: Pick<FolderContext, "types" | "registry">,
): readonly Reference[] {
  if (put === undefined) return [];
  const { payload } = put.resource;
  if (payload.typeUrl === locatorUrl) return referencesOfLocator(locatorOfBytes(payload.value));
  if (isList(payload.typeUrl, context.registry)) return referencesOfList(payload, context);
  return payload.typeUrl === typeUrl ? referencesOfPayload(payload, context) : [];
}

function referencesOfPayload(
  { typeUrl, value }: AnyBytes,
  { types }: Pick<FolderContext, "types">,
): readonly Reference[] {
  return types.get(typeUrl)?.references?.(value) ?? [];
}

function referencesOfList(
  { typeUrl, value }: AnyBytes,
  context: Pick<FolderContext, "types">,
): readonly Reference[] {
  return entriesOfList({ typeUrl, value }).flatMap((entry) =>
    entry.kind === "locator"
      ? referencesOfLocator(locatorOfEntry(entry.locator))
      : referencesOfPayload(entry.payload, context),
  );
}

/** Returns the entries of a list: locators and inline resources. */
export function entriesOfList({ typeUrl, value }: AnyBytes): readonly ListEntry[] {
  const entries: ListEntry[] = [];
  const members = memberTypeOf(typeFromTypeUrl(typeUrl) ?? "") ?? "";
  walkList(value, typeUrlOf(members), (entry) => {
    entries.push(entry);
    return undefined;
  });
  return entries;
}

function referencesOfLocator(locator: ReturnType<typeof locatorOfEntry>): readonly Reference[] {
  if ("text" in locator || locator.scheme !== "xdstp") return [];
  const name = printName(nameFromLocator(locator));
  return [{ typeUrl: typeUrlOf(locator.resourceType), name }];
}

const locatorUrl = typeUrlOf(ResourceLocatorSchema.typeName);

/** Returns a key for a type and a name. Different spellings of one name have the same key. */
export function keyOf(typeUrl: string, name: string): string {
  const [bare = ""] = name.split("#");
  return `${typeUrl} ${bare.startsWith("xdstp:") ? nameKey(bare) : name}`;
}
