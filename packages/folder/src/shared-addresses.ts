import { fromBinary } from "@bufbuild/protobuf";
import { listener } from "@xdstp/resource-types";
import { boundAddresses, type BoundListener } from "./envoy-checks/listener-checks.ts";
import { findNumber } from "./find-position.ts";
import type { FolderContext } from "./folder-context.ts";
import type { FolderEntry } from "./folder-entry.ts";
import { type FolderProblem, quote } from "./folder-problem.ts";

/** A listener with an address, and its file. */
interface Owner {
  readonly entry: FolderEntry;
  readonly port: string;
}

/**
 * Returns warnings for listeners that have the address of another one. A client that receives both rejects the second.
 * Only opaque names for the same nodes are compared. Clients subscribe to single xdstp names and match only some variants, so it may be that no client receives both.
 * @param textOf - Returns the text of a file, or `undefined` if it was removed
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
  // Listeners for single nodes come last, so that the warning is about these.
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
