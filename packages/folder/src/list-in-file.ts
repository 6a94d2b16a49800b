import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { walkList } from "@xdstp/core/wire";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { typeUrlOf } from "@xdstp/resource-types";
import { isLocatorText, isObject } from "./documents-of.ts";
import type { FolderContext } from "./folder-context.ts";
import { Fault, type JsonPath, quote } from "./folder-problem.ts";
import { faultDetails, locatorInFile, locatorOfEntry, targetFault } from "./locators.ts";
import type { ListFolder } from "./place.ts";

const locatorUrl = typeUrlOf(ResourceLocatorSchema.typeName);

interface Entries {
  readonly type: ListFolder;
  readonly context: FolderContext;
  readonly names: Set<string>;
}

/**
 * Returns a list collection with locators as messages, and with the type of inline entries filled in.
 * Throws a fault for an entry that is neither a locator nor inline (B-LIST-3), an entry of another type, and a name that occurs twice (B-LIST-4).
 */
export function listInFile(json: JsonObject, type: ListFolder, context: FolderContext): JsonObject {
  const [field] = type.desc.fields;
  const key = field !== undefined && field.jsonName in json ? field.jsonName : field?.name;
  const entries = key === undefined ? undefined : json[key];
  if (key === undefined || entries === undefined || entries === null) return json;
  if (!Array.isArray(entries))
    throw new Fault({
      code: "bad-list",
      message: `${key} is ${isObject(entries) ? "one entry" : `a ${typeof entries}`}, but has to be a list`,
      path: [key],
      rule: "B-LIST-1",
      hint: "write a dash before each entry",
    });
  const list = { type, context, names: new Set<string>() };
  return { ...json, [key]: entries.map((entry, index) => entryInFile(entry, [key, index], list)) };
}

function entryInFile(entry: JsonValue, path: JsonPath, list: Entries): JsonValue {
  const inlineKey = isObject(entry) && "inlineEntry" in entry ? "inlineEntry" : "inline_entry";
  if (!isObject(entry) || !("locator" in entry || inlineKey in entry))
    throw new Fault({
      code: "bad-list",
      message: `${place(path)} is neither a locator nor inline`,
      path,
      rule: "B-LIST-3",
      hint: isLocatorText(entry) ? `write locator: ${entry}` : entryHint(list.type),
    });
  const { locator } = entry;
  if (locator !== undefined && locator !== null) {
    const { json } = locatorInFile(locator, [...path, "locator"], {
      typeName: list.type.members,
      context: list.context,
    });
    return { ...entry, locator: json };
  }
  const inline = entry[inlineKey];
  if (!isObject(inline)) return entry;
  return { ...entry, [inlineKey]: inlineInFile(inline, [...path, inlineKey], list) };
}

function inlineInFile(inline: JsonObject, path: JsonPath, { type, names }: Entries): JsonObject {
  const { name, resource } = inline;
  if (typeof name === "string" && name !== "") {
    if (names.has(name))
      throw new Fault({
        code: "duplicate-name",
        message: `${place(path)} has the name ${quote(name)} for a second time`,
        path: [...path, "name"],
        rule: "B-LIST-4",
        hint: "use another name",
      });
    names.add(name);
  }
  if (isLocatorText(resource) || (isObject(resource) && typeOf(resource) === locatorUrl))
    throw new Fault({
      code: "bad-list",
      message: `${place(path)} leads elsewhere, but an inline entry holds its resource`,
      path: [...path, "resource"],
      rule: "B-LIST-4",
      hint: "write locator: xdstp://... instead of inline_entry",
    });
  if (!isObject(resource))
    throw new Fault({
      code: "bad-list",
      message: `${place(path)} has no resource`,
      path,
      rule: "B-LIST-4",
      hint: entryHint(type),
    });
  const memberUrl = typeUrlOf(type.members);
  const stated = typeOf(resource);
  if (stated !== undefined && stated !== memberUrl)
    throw new Fault({
      code: "wrong-type",
      message: `the @type of ${place(path)} is ${quote(stated)}, but the members of this list are ${type.members}`,
      path: [...path, "resource", "@type"],
      rule: "B-LIST-4",
      hint: "leave @type out",
    });
  return { ...inline, resource: { ...resource, "@type": memberUrl } };
}

/** Returns the type URL that a resource has. `undefined`: none. */
function typeOf(resource: JsonObject): string | undefined {
  const stated = resource["@type"];
  return typeof stated === "string"
    ? typeUrlOf(stated.slice(stated.lastIndexOf("/") + 1))
    : undefined;
}

/** Throws a fault for a binary list that clients reject (B-LIST-3, B-LIST-4), and for a locator of another type. */
export function checkListBytes(bytes: Uint8Array, { members }: ListFolder): void {
  const fault = walkList(bytes, typeUrlOf(members), (entry) => {
    if (entry.kind === "inline") return undefined;
    const locator = locatorOfEntry(entry.locator);
    const reason = "text" in locator ? locator : targetFault(members, locator);
    return reason && { ...reason, text: `has a locator that cannot be used: ${reason.text}` };
  });
  if (fault !== undefined) throw new Fault(faultDetails(fault));
}

/** Returns a path as text, such as `entries[2].inline_entry`. */
function place(path: JsonPath): string {
  return path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
    .join("")
    .slice(1);
}

function entryHint({ members }: ListFolder): string {
  return `write locator: xdstp://AUTHORITY/${members}/ID, or inline_entry: {name: ID, resource: {...}}`;
}
