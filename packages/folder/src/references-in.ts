import type { Put, Reference } from "@xdstp/core";
import { foreignReferences } from "@xdstp/resource-types";
import { authorityOf } from "@xdstp/uri";
import { findTexts, type TextPosition } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";

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
      ({
        resource: {
          payload: { value },
        },
      }) => mentionsXdstp(value),
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
