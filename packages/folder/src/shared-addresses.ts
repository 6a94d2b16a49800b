import { fromBinary } from "@bufbuild/protobuf";
import { listener } from "@xdstp/resource-types";
import { boundAddresses, type BoundListener } from "./envoy-checks/listener-checks.ts";
import { findNumber } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { type FolderProblem, quote } from "./folder-problem.ts";

/** A listener that has an address, and its file. */
interface Owner {
  readonly entry: FolderEntry;
  readonly port: string;
}

/**
 * Warns of listeners that have the address of another one: a client that gets both rejects the second.
 * Only opaque names of one node are compared. Clients subscribe to those of xdstp, and are chosen for variants, so that no client may get both.
 * @param textOf - The text of a file; undefined: it was removed
 */
export async function sharedAddresses(
  entries: readonly FolderEntry[],
  { registry }: Pick<FolderContext, "registry">,
  textOf: (file: string) => Promise<string | undefined>,
): Promise<readonly FolderProblem[]> {
  const desc = registry.getMessage("envoy.config.listener.v3.Listener");
  if (desc === undefined) return [];
  const owners = new Map<string, Owner[]>();
  const shared: { readonly first: Owner; readonly second: Owner }[] = [];
  // Those of one node last, so that they are the ones to change.
  const all = entries.filter(({ typeUrl }) => typeUrl === listener.typeUrl);
  const ordered = [
    ...all.filter(({ node }) => node === undefined),
    ...all.filter(({ node }) => node !== undefined),
  ];
  for (const entry of ordered) {
    const { typeUrl, name, variant, put } = entry;
    if (name.startsWith("xdstp:") || variant !== undefined) continue;
    if (put?.resource.payload.typeUrl !== typeUrl) continue;
    const message = fromBinary(desc, put.resource.payload.value) as unknown as BoundListener;
    for (const [key] of boundAddresses(message)) {
      const second = { entry, port: / (\d+) [^ ]*$/.exec(key)?.[1] ?? "" };
      const known = owners.get(key) ?? [];
      const first = known.find(({ entry: { node } }) => isSameNode(node, entry.node));
      if (first === undefined) owners.set(key, [...known, second]);
      if (first !== undefined && first.entry !== entry) shared.push({ first, second });
    }
  }
  return Promise.all(
    shared.map(async ({ first, second: { entry, port } }): Promise<FolderProblem> => {
      const text = port === "" ? undefined : await textOf(entry.file);
      return {
        file: entry.file,
        ...(text !== undefined && findNumber(text, port)),
        code: "shared-address",
        message: `listener ${quote(entry.name)} has the address of listener ${quote(first.entry.name)}`,
        hint: "a client that gets both rejects one of them",
      };
    }),
  );
}

function isSameNode(a: string | undefined, b: string | undefined): boolean {
  return a === undefined || b === undefined || a === b;
}
