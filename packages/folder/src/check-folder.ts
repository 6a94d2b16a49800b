import { readFile as readText } from "node:fs/promises";
import { relative, sep } from "node:path";
import type { AnyBytes, Reference } from "@xdstp/core";
import { decodeText, walkFields, WireType } from "@xdstp/core/wire";
import { shortNameOf } from "@xdstp/resource-types";
import { authorityOf } from "@xdstp/uri";
import { createResourceCheck, isList } from "./check-resource.ts";
import { findTexts, type TextPosition } from "./find-position.ts";
import { type FolderContext, folderContext, type FolderOptions } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { fileTrouble, type FolderProblem, quote } from "./folder-problem.ts";
import { mapLimit } from "./pacing.ts";
import { readFile } from "./read-file.ts";
import { createFolderReader } from "./folder-reader.ts";
import { type FolderContent, readEntries } from "./read-folder.ts";
import { entriesOfList, keyOf, referencesOfEntry } from "./resource-references.ts";
import { sharedAddresses } from "./shared-addresses.ts";
import { unusedResources } from "./unused-resources.ts";
import { isGone } from "./walk-folder.ts";

/**
 * Reads a folder once and checks everything that can be known without a client: what {@link readFolder} checks, the constraints of each message (`validate.rules` of the Envoy API and `buf.validate`), and the references between resources.
 * A violated constraint is a problem. Warnings are deprecated fields and values, references to resources that the folder does not have, and opaque endpoints, routes and secrets without references to them. Never rejects.
 */
export async function checkFolder(options: FolderOptions): Promise<FolderContent> {
  const checker = createFolderChecker(options);
  const checked = await checker.check();
  checker.close();
  return checked;
}

/** A resource of a folder with its names and references. */
export interface NamedResource {
  /** The file that contains it. */
  readonly file: string;
  /** The type of the resource, also if a redirect replaces its payload. */
  readonly typeUrl: string;
  /** The canonical name, opaque or xdstp. */
  readonly name: string;
  /** Further opaque names. */
  readonly aliases: readonly string[];
  /** The references of the resource to others. */
  readonly references: readonly Reference[];
}

/** The result of a check, and the resources. */
export interface CheckedFolder extends FolderContent {
  /** All resources whose files can be read. */
  readonly names: readonly NamedResource[];
}

/** Checks a folder repeatedly, for an editor. */
export interface FolderChecker {
  /**
   * Checks as {@link checkFolder} does. Only files that have changed are parsed again. Calls run one after another. Never rejects.
   * @param unsaved - Texts that replace the content of files, by the paths that problems have
   */
  check(unsaved?: ReadonlyMap<string, string>): Promise<CheckedFolder>;
  /** Returns the resources that a file would contain with this text. Empty if problems leave none. */
  namesIn(file: string, text: string): readonly NamedResource[];
  /** Stops work of a check in other processes. */
  close(): void;
}

/** Creates a {@link FolderChecker} of a folder. */
export function createFolderChecker(options: FolderOptions): FolderChecker {
  let unsaved: ReadonlyMap<string, string> = new Map();
  let last: Promise<unknown> = Promise.resolve();
  const base = folderContext(options);
  const ready = createResourceCheck(base).then((check) => {
    const context = { ...base, check, unsaved: (file: string) => unsaved.get(file) };
    return { context, reader: createFolderReader(context) };
  });
  const references = new WeakMap<FolderEntry, readonly Reference[]>();

  return {
    async check(texts = new Map()) {
      const checked = last.then(() => checkOnce(texts));
      last = checked;
      return checked;
    },
    namesIn(file, text) {
      const segments = relative(options.dir, file).split(sep);
      const { puts } = readFile(segments, new TextEncoder().encode(text), base);
      return puts.map((put) => ({
        file,
        typeUrl: put.typeUrl,
        name: put.resource.name,
        aliases: put.resource.aliases ?? [],
        references: referencesOfEntry({ typeUrl: put.typeUrl, put }, base),
      }));
    },
    close() {
      void ready.then(({ reader }) => {
        reader.close();
      });
    },
  };

  async function checkOnce(texts: ReadonlyMap<string, string>): Promise<CheckedFolder> {
    const { context, reader } = await ready;
    unsaved = texts;
    const { entries, content } = await readEntries(options, context, reader);
    const referring = entries.flatMap((entry): readonly Referring[] =>
      referencesIn(entry).map((reference) => ({ entry, reference })),
    );
    const dangling = await danglingIn(entries, referring, inlineNames(entries, base), context);
    const shared = await sharedAddresses(entries, context, async (file) => {
      const text = unsaved.get(file) ?? (await readText(file, "utf8").catch(() => undefined));
      return text;
    });
    return {
      ...content,
      warnings: [...content.warnings, ...dangling, ...unusedResources(entries), ...shared],
      names: entries.map((entry) => ({
        file: entry.file,
        typeUrl: entry.typeUrl,
        name: entry.name,
        aliases: entry.aliases,
        references: referencesIn(entry),
      })),
    };
  }

  function referencesIn(entry: FolderEntry): readonly Reference[] {
    const known = references.get(entry) ?? referencesOfEntry(entry, base);
    references.set(entry, known);
    return known;
  }
}

/** A reference, and the resource that has it. */
interface Referring {
  readonly entry: FolderEntry;
  readonly reference: Reference;
}

/** Returns the names of inline resources in lists, as written in their payloads. References use these names. */
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

/** A type and name, as {@link keyOf} returns them, with the node key. */
interface NamedForNode {
  readonly key: string;
  /** `undefined`: the resource is for all nodes. */
  readonly node: string | undefined;
}

/** Returns warnings for references to resources that are not in the folder. References with another source or authority, and globs, are not checked. */
async function danglingIn(
  entries: readonly FolderEntry[],
  referring: readonly Referring[],
  inline: readonly NamedForNode[],
  { unsaved }: Pick<FolderContext, "unsaved">,
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
      const { positions, problems } = await textsOf(file, names, unsaved?.(file));
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

/** The number of files that are open at the same time. */
const parallel = 32;

/** Returns the positions of names in a file. A file that was removed meanwhile has none, and no problem either. */
async function textsOf(
  file: string,
  names: ReadonlySet<string>,
  unsaved: string | undefined,
): Promise<{
  readonly positions: ReadonlyMap<string, Partial<TextPosition>>;
  readonly problems: readonly FolderProblem[];
}> {
  try {
    return { positions: findTexts(unsaved ?? (await readText(file, "utf8")), names), problems: [] };
  } catch (error) {
    const problems = isGone(error) ? [] : [{ file, ...fileTrouble(error) }];
    return { positions: new Map(), problems };
  }
}
