import type { Put, Reference } from "@xdstp/core";
import { foreignReferences, shortNameOf } from "@xdstp/resource-types";
import { authorityOf } from "@xdstp/uri";
import { findTexts, type TextPosition } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";
import { type FolderProblem, quote } from "./folder-problem.ts";
import type { FolderEntry } from "./folder-entry.ts";

/** A reference to an xdstp name of an authority other than that of its file, with its position if that is known. */
export interface FileReference extends Reference, Partial<TextPosition> {
  readonly file: string;
}

const NONE: readonly FileReference[] = [];

/** Returns the references of a file's resources to other authorities. Only resources that contain `xdstp:` are decoded, since few do. */
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

/** Returns true if the bytes contain `xdstp:`. This is much faster than decoding them. */
function mentionsXdstp({ buffer, byteOffset, length }: Uint8Array): boolean {
  return Buffer.from(buffer, byteOffset, length).includes("xdstp:");
}

/** A reference to an authority that is not served here, as a problem. */
interface ForeignProblem {
  /** A key that is equal for the same reference in the same file. */
  readonly key: string;
  readonly typeUrl: string;
  readonly name: string;
  readonly problem: FolderProblem;
}

/** Returns the authorities of the resources in a folder. */
export function authoritiesOf(entries: readonly Pick<FolderEntry, "name">[]): readonly string[] {
  return [...new Set(entries.map(({ name }) => authorityOf(name)))].filter(
    (authority) => authority !== undefined,
  );
}

/** Returns problems for references to an authority that is not one of these, each once per file (S-AUTH-10). */
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
