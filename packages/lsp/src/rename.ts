import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { NamedResource } from "@xdstp/folder";
import type { KnownNames, NameInFile, NameSources, Occurrence } from "./known-names.ts";
import { isTooLong, keyOf, typeText } from "./known-names.ts";
import { scalarsIn, withScalar } from "./text-scalars.ts";

/** The edits that give a resource another name. */
export interface Renaming {
  /** Values that become the new name. */
  readonly edits: readonly Occurrence[];
  /** Files that get another path. */
  readonly moves: readonly { readonly from: string; readonly to: string }[];
}

/** Why a resource cannot be renamed; for people. */
export class RenameError extends Error {
  override readonly name: string = "RenameError";
}

/** The input of a renaming. */
export interface RenameTools {
  readonly dir: string;
  readonly names: KnownNames;
  readonly namesIn: NameSources["namesIn"];
  readonly textOf: NameSources["textOf"];
}

/** Finds what has to change in all files of the folder. Throws a {@link RenameError} where the new name cannot be used, or a file refers to the old one without writing it. */
export async function findRenaming(
  subject: NameInFile,
  newName: string,
  tools: RenameTools,
): Promise<Renaming> {
  const { names } = tools;
  const { typeUrl, name } = subject;
  rejectNewName(subject, newName, names);
  const resources = names.resourcesOf(subject).filter((one) => one.name === name);
  const renamed = await Promise.all(
    resources.map(async (resource) => renameResource(resource, newName, tools)),
  );
  const files = new Set(names.referrersOf(subject).map(({ file }) => file));
  const references: Occurrence[] = [];
  for (const file of files) {
    rejectOthers(subject, file, names);
    const found = await names.occurrencesIn(file, { typeUrl, name });
    if (found === undefined) throw new RenameError(tooLong(file));
    if (found.length === 0)
      throw new RenameError(
        `${file} refers to ${typeText(typeUrl)} "${name}" without naming it, as a cluster does that has no service_name; write the name there first`,
      );
    references.push(...found);
  }
  const edits = [...renamed.flatMap((one) => one.edits), ...references];
  const moves = renamed.flatMap((one) => one.moves);
  for (const file of new Set([...edits.map((one) => one.file), ...moves.map(({ from }) => from)])) {
    const inFile = edits.filter((one) => one.file === file);
    const text = inFile[0]?.text ?? tools.textOf(file) ?? (await readFile(file, "utf8"));
    const newFile = moves.find(({ from }) => from === file)?.to ?? file;
    rejectWrong(subject, newName, { inFile, text, file, newFile, namesIn: tools.namesIn });
  }
  return { edits, moves };
}

/** A file of the folder can refer to static resources of several bootstraps, of which one would keep the old name. */
function rejectOthers(subject: NameInFile, file: string, names: KnownNames): void {
  const renamed = names.resourcesOf(subject);
  const other = names.resourcesOf({ ...subject, file }).find((one) => !renamed.includes(one));
  if (other !== undefined)
    throw new RenameError(
      `${file} refers to ${typeText(subject.typeUrl)} "${subject.name}" of ${other.file} too; rename it from ${file}`,
    );
}

/** The edits of one file, to be checked. */
interface FileEdits {
  readonly inFile: readonly Occurrence[];
  readonly text: string;
  readonly file: string;
  /** The path that the file gets. */
  readonly newFile: string;
  readonly namesIn: NameSources["namesIn"];
}

/** Names in blocks of several lines are not found, an anchor may give its value to other things than names, and the name of a cluster may be that of its endpoints. */
function rejectWrong(
  { typeUrl, name }: NameInFile,
  newName: string,
  { inFile, text, file, newFile, namesIn }: FileEdits,
): void {
  if (inFile.some(({ scalar }) => scalar?.isAliased === true))
    throw new RenameError(
      `${file} has the name "${name}" at an anchor of which there are aliases; change it there`,
    );
  const [old, renamed] = [keyOf({ typeUrl, name }), keyOf({ typeUrl, name: newName })];
  const keyThen = (key: string): string => (key === old ? renamed : key);
  const namesOf = (one: NamedResource, change: (key: string) => string): string =>
    JSON.stringify([
      change(keyOf(one)),
      [...new Set(one.references.map((reference) => change(keyOf(reference))))].toSorted(),
    ]);
  const before = namesIn(file, text).map((one) => namesOf(one, keyThen));
  const after = namesIn(newFile, withEdits(text, inFile, newName)).map((one) =>
    namesOf(one, (key) => key),
  );
  if (before.join("\n") !== after.join("\n"))
    throw new RenameError(
      `${file}: not every place of the name "${name}" is found, or something else has its name from there; change it there`,
    );
}

function withEdits(text: string, edits: readonly Occurrence[], value: string): string {
  return edits
    .flatMap(({ scalar }) => scalar ?? [])
    .toSorted((a, b) => b.start - a.start)
    .reduce((changed, scalar) => withScalar(changed, scalar, value), text);
}

function tooLong(file: string): string {
  return `${file} has the name and is longer than 2,000,000 characters, in which names are not searched; change it there`;
}

function rejectNewName(old: NameInFile, newName: string, names: KnownNames): void {
  const { typeUrl, name } = old;
  const prefix = xdstpPrefix(name);
  if (newName === "" || newName === name) throw new RenameError("give another name");
  if (/\p{Cc}/u.test(newName))
    throw new RenameError("a name has no control characters, such as a line end");
  if (prefix !== xdstpPrefix(newName))
    throw new RenameError(
      prefix === undefined
        ? `"${newName}" is an xdstp name, and "${name}" is not; move the file below an authority`
        : `the new name has to begin with ${prefix}, as "${name}" does`,
    );
  if (names.resourcesOf({ ...old, name: newName }).length > 0)
    throw new RenameError(`there is a resource ${typeText(typeUrl)} "${newName}" already`);
}

/** The authority and type of an xdstp name: `xdstp://example.com/envoy.config.cluster.v3.Cluster/`. */
function xdstpPrefix(name: string): string | undefined {
  return /^xdstp:\/\/[^/]*\/[^/]+\//.exec(name)?.[0];
}

async function renameResource(
  resource: NamedResource,
  newName: string,
  { dir, namesIn, textOf }: RenameTools,
): Promise<Renaming> {
  const { file, name } = resource;
  const text = textOf(file) ?? (await readFile(file, "utf8"));
  if (isTooLong(text)) throw new RenameError(tooLong(file));
  const path = file.startsWith(dir + sep) ? pathOf(dir, file) : undefined;
  const isByPath = path?.id === idOf(name);
  const newFile = isByPath ? join(path.base, `${encodedId(idOf(newName))}${path.extension}`) : file;
  const holds = (changed: string): boolean =>
    namesIn(newFile, changed).some(
      (one) => one.typeUrl === resource.typeUrl && one.name === newName,
    );
  const moves = newFile === file ? [] : [{ from: file, to: newFile }];
  if (holds(text)) return { edits: [], moves };
  const scalar = scalarsIn(text).find(
    (one) => one.value === name && holds(withScalar(text, one, newName)),
  );
  if (scalar === undefined)
    throw new RenameError(`${file}: the place of the name "${name}" is not found; change it there`);
  return { edits: [{ file, text, scalar }], moves };
}

/** The part of a name that the path below a type folder gives. */
function idOf(name: string): string {
  return name.slice(xdstpPrefix(name)?.length ?? 0);
}

/** The folder of the type, and the name that the path below it gives. undefined: it gives none that can be read. */
function pathOf(
  dir: string,
  file: string,
): { readonly base: string; readonly id: string; readonly extension: string } | undefined {
  const segments = relative(dir, file).split(sep);
  const above = segments[0] === "_nodes" ? 4 : 2;
  const below = segments.slice(above).join("/");
  const extension = /\.[^./]+$/.exec(below)?.[0] ?? "";
  try {
    const id = decodeURIComponent(below.slice(0, below.length - extension.length));
    return { base: join(dir, ...segments.slice(0, above)), id, extension };
  } catch {
    return undefined;
  }
}

/** As file names are read: `%HH` is a byte, and a slash begins a folder. */
function encodedId(id: string): string {
  return id
    .split("/")
    .map((segment) => segment.replace(/[%\\:*?"<>|]|^\./g, (one) => encodeURIComponent(one)))
    .join("/");
}
