import { readFile } from "node:fs/promises";
import type { AnyBytes, Reference } from "@xdstp/core";
import { decodeText, type ListEntry, walkFields, walkList, WireType } from "@xdstp/core/wire";
import { ResourceLocatorSchema } from "@xdstp/protos/xds";
import { shortNameOf, typeUrlOf } from "@xdstp/resource-types";
import {
  authorityOf,
  memberTypeOf,
  nameFromLocator,
  nameKey,
  printName,
  typeFromTypeUrl,
} from "@xdstp/uri";
import { createEnvoyResourceCheck, createResourceCheck, isList } from "./check-resource.ts";
import { findTexts, type TextPosition } from "./find-position.ts";
import {
  type FolderContext,
  folderContext,
  type FolderOptions,
  type ResourceCheck,
} from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { fileTrouble, type FolderProblem, quote } from "./folder-problem.ts";
import { locatorOfBytes, locatorOfEntry } from "./locators.ts";
import { mapLimit } from "./pacing.ts";
import { type FolderContent, readEntries } from "./read-folder.ts";
import { isGone } from "./walk-folder.ts";

/**
 * Reads a folder once and checks all that can be known without a client: what {@link readFolder} does, the constraints of each message (`validate.rules` of the Envoy API and `buf.validate`), and the references between resources.
 * A violated constraint is a problem. Warnings are references to what the folder does not have, and opaque endpoints, routes and secrets to which nothing refers. Never rejects.
 */
export async function checkFolder(options: FolderOptions): Promise<FolderContent> {
  const base = folderContext(options);
  const constraints = await createResourceCheck(base);
  const envoy = createEnvoyResourceCheck(base);
  const check: ResourceCheck = (put) => [...constraints(put), ...envoy(put)];
  const { entries, content } = await readEntries(options, { ...base, check });
  const referring = entries.flatMap((entry): readonly Referring[] =>
    referencesOfEntry(entry, base).map((reference) => ({ entry, reference })),
  );
  return {
    ...content,
    warnings: [
      ...content.warnings,
      ...(await danglingIn(entries, referring, inlineNames(entries, base))),
      ...unusedIn(entries, referring),
    ],
  };
}

/** A reference, and the resource that has it. */
interface Referring {
  readonly entry: FolderEntry;
  readonly reference: Reference;
}

/** What a resource refers to: that of a list is what its entries lead to and refer to, that of a redirect its target. */
function referencesOfEntry(
  { typeUrl, put }: FolderEntry,
  context: FolderContext,
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
  context: FolderContext,
): readonly Reference[] {
  return entriesOfList({ typeUrl, value }).flatMap((entry) =>
    entry.kind === "locator"
      ? referencesOfLocator(locatorOfEntry(entry.locator))
      : referencesOfPayload(entry.payload, context),
  );
}

function entriesOfList({ typeUrl, value }: AnyBytes): readonly ListEntry[] {
  const entries: ListEntry[] = [];
  const members = memberTypeOf(typeFromTypeUrl(typeUrl) ?? "") ?? "";
  walkList(value, typeUrlOf(members), (entry) => {
    entries.push(entry);
    return undefined;
  });
  return entries;
}

/** The names of the resources that lists hold inline, by which others refer to them: those in their payloads. */
function inlineNames(
  entries: readonly FolderEntry[],
  context: FolderContext,
): readonly NamedForNode[] {
  return entries.flatMap(({ put, node }) => {
    if (put === undefined || !isList(put.resource.payload.typeUrl, context.registry)) return [];
    return entriesOfList(put.resource.payload).flatMap((entry) => {
      if (entry.kind === "locator") return [];
      const { typeUrl } = entry.payload;
      return [{ key: keyOf(typeUrl, nameOfPayload(entry.payload, context)), node }];
    });
  });
}

function nameOfPayload({ typeUrl, value }: AnyBytes, { types }: FolderContext): string {
  const nameField = types.get(typeUrl)?.nameField ?? 1;
  let name = "";
  walkFields(value, (field, start, end, wireType) => {
    if (field === nameField && wireType === WireType.LENGTH_DELIMITED)
      name = decodeText(value, start, end);
    return true;
  });
  return name;
}

/** A type and name, as {@link keyOf} gives them, and the nodes that have it. */
interface NamedForNode {
  readonly key: string;
  /** undefined: all nodes. */
  readonly node: string | undefined;
}

function referencesOfLocator(locator: ReturnType<typeof locatorOfEntry>): readonly Reference[] {
  if ("text" in locator || locator.scheme !== "xdstp") return [];
  const name = printName(nameFromLocator(locator));
  return [{ typeUrl: typeUrlOf(locator.resourceType), name }];
}

const locatorUrl = typeUrlOf(ResourceLocatorSchema.typeName);

/** Names of one type, in one form for each name. */
function keyOf(typeUrl: string, name: string): string {
  const [bare = ""] = name.split("#");
  return `${typeUrl} ${bare.startsWith("xdstp:") ? nameKey(bare) : name}`;
}

/** Warns of references to what is not in the folder. What comes from another source or authority, and globs, are not looked for. */
async function danglingIn(
  entries: readonly FolderEntry[],
  referring: readonly Referring[],
  inline: readonly NamedForNode[],
): Promise<readonly FolderProblem[]> {
  const named = entries.flatMap(({ typeUrl, name, aliases, node }) =>
    [name, ...aliases].map((one): NamedForNode => ({ key: keyOf(typeUrl, one), node })),
  );
  const nodesOf = Map.groupBy([...named, ...inline], ({ key }) => key);
  const own = new Set(entries.map(({ name }) => authorityOf(name)));
  const isThere = ({ entry: { node }, reference: { typeUrl, name } }: Referring): boolean =>
    nodesOf
      .get(keyOf(typeUrl, name))
      ?.some((held) => node === undefined || held.node === undefined || held.node === node) ??
    false;
  const dangling = referring.filter(
    (one) =>
      one.reference.source === undefined &&
      own.has(authorityOf(one.reference.name)) &&
      !/\/\*(\?|$)/.test(one.reference.name) &&
      !isThere(one),
  );
  const warnings = await mapLimit(
    [...Map.groupBy(dangling, ({ entry }) => entry.file)],
    parallel,
    async ([file, inFile]) => {
      const names = new Set(inFile.map(({ reference }) => reference.name));
      const { positions, problems } = await textsOf(file, names);
      const texts = inFile.map(({ reference: { typeUrl, name } }): FolderProblem => {
        const { field, ...position } = positions.get(name) ?? {};
        return {
          file,
          ...position,
          code: "dangling-reference",
          message: `${field === undefined ? "" : `${field}: `}refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}, which is not in the folder`,
          hint: "add it, unless clients have it from elsewhere",
        };
      });
      return [...texts, ...problems];
    },
  );
  return warnings.flat();
}

/** Files that are open at a time. */
const parallel = 32;

/** The places of names in a file. One that was removed meanwhile has none, and no problem either. */
async function textsOf(
  file: string,
  names: ReadonlySet<string>,
): Promise<{
  readonly positions: ReadonlyMap<string, Partial<TextPosition>>;
  readonly problems: readonly FolderProblem[];
}> {
  try {
    return { positions: findTexts(await readFile(file, "utf8"), names), problems: [] };
  } catch (error) {
    const problems = isGone(error) ? [] : [{ file, ...fileTrouble(error) }];
    return { positions: new Map(), problems };
  }
}

/** Types of which clients request only what something refers to. */
const onDemand: ReadonlySet<string | undefined> = new Set(["endpoints", "routes", "secrets"]);

/** Warns of opaque names to which nothing refers: no client will request them. Names of xdstp may be requested from elsewhere. */
function unusedIn(
  entries: readonly FolderEntry[],
  referring: readonly Referring[],
): readonly FolderProblem[] {
  const used = new Set(referring.map(({ reference: { typeUrl, name } }) => keyOf(typeUrl, name)));
  return entries
    .filter(
      ({ typeUrl, name, aliases }) =>
        onDemand.has(shortNameOf(typeUrl)) &&
        !name.startsWith("xdstp:") &&
        ![name, ...aliases].some((one) => used.has(keyOf(typeUrl, one))),
    )
    .map(({ file, typeUrl, name }) => ({
      file,
      code: "unused-resource",
      message: `nothing refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}`,
      hint: "remove it, unless a client requests it by this name",
    }));
}
