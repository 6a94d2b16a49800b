import type { Put, Reference } from "@xdstp/core";
import { foreignReferences, shortNameOf } from "@xdstp/resource-types";
import { authorityOf } from "@xdstp/uri";
import { findTexts, type TextPosition } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";
import { type FolderProblem, quote } from "./folder-problem.ts";
import type { FolderEntry } from "./folder-entry.ts";

/** A reference to an xdstp name of another authority than that of the file, and where it stands if that is known. */
export interface FileReference extends Reference, Partial<TextPosition> {
  readonly file: string;
}

const NONE: readonly FileReference[] = [];

/** What the resources of a file refer to in other authorities. Few do, so only these are read for it, and looked up in the text. */
export function referencesIn(
  puts: readonly Put[],
  { file, text }: { readonly file: string; readonly text: string },
  { types }: FolderContext,
): readonly FileReference[] {
  const found = puts
    .filter(
      ({ typeUrl, resource: { payload } }) =>
        payload.typeUrl === typeUrl && mentionsXdstp(payload.value),
    )
    .flatMap(({ typeUrl, resource: { name, payload } }) => {
      const own = authorityOf(name);
      return foreignReferences(
        types.get(typeUrl)?.references?.(payload.value) ?? [],
        own === undefined ? [] : [own],
      );
    });
  if (found.length === 0) return NONE;
  const positions = findTexts(text, new Set(found.map(({ name }) => name)));
  return found.map((reference) => ({ file, ...reference, ...positions.get(reference.name) }));
}

/** A look at the bytes, much quicker than the walk through them. */
function mentionsXdstp({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes("xdstp:");
}

/** A reference to an authority that is not served here, in words. */
interface ForeignProblem {
  /** Equal for the same reference of the same file. */
  readonly key: string;
  readonly typeUrl: string;
  readonly name: string;
  readonly problem: FolderProblem;
}

/** The authorities of a folder. */
export function authoritiesOf(entries: readonly Pick<FolderEntry, "name">[]): readonly string[] {
  return [...new Set(entries.map(({ name }) => authorityOf(name)))].filter(
    (authority) => authority !== undefined,
  );
}

/** Those references whose authority is none of these, each once per file (S-AUTH-10). */
export function foreignProblems(
  references: readonly FileReference[],
  authorities: readonly string[],
): readonly ForeignProblem[] {
  const foreign = new Set(foreignReferences(references, authorities));
  return [
    ...new Map(
      references
        .filter((reference) => foreign.has(reference))
        .map((reference) => [keyOf(reference), problemOf(reference)]),
    ).values(),
  ];
}

function keyOf({ file, typeUrl, name }: FileReference): string {
  return JSON.stringify([file, typeUrl, name]);
}

function problemOf(reference: FileReference): ForeignProblem {
  const { file, line, column, field, typeUrl, name } = reference;
  const authority = quote(authorityOf(name) ?? "");
  const what = `${field === undefined ? "" : `${field}: `}refers to ${shortNameOf(typeUrl) ?? typeUrl} ${quote(name)}, but authority ${authority} is not served here`;
  const hint =
    "serve it too, use an opaque name, or see to it that clients have a server for it that understands xdstp";
  return {
    key: keyOf(reference),
    typeUrl,
    name,
    problem: {
      file,
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      code: "foreign-authority",
      message: what,
      rule: "S-AUTH-10",
      hint,
    },
  };
}
