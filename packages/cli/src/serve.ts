import { readdir } from "node:fs/promises";
import { createNodeCaches, nodeField } from "@xdstp/cache";
import { createFolderFeed, type FolderEvent, type ResourceClient } from "@xdstp/folder";
import type { Registry } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { allowedCodes } from "./allowed-codes.ts";
import { CliError } from "./cli-error.ts";
import { checkNodeKey } from "./check-node-key.ts";
import type { CliIo } from "./cli-io.ts";
import { type HostOptions, hostServer, type Supply } from "./host-server.ts";
import { createHealthBook, noteFolder } from "./health-book.ts";
import { loadRegistry } from "./load-registry.ts";
import { nodeVersions, type ServedVersions } from "./served-versions.ts";
import type { Tell } from "./reporter.ts";

/** The options of `xdstp serve`. */
export interface ServeOptions extends Omit<HostOptions, "registry"> {
  readonly dir: string;
  /** The paths of descriptor sets. */
  readonly descriptors: readonly string[];
  readonly allowMassDelete: boolean;
  /** true: the valid resources of a batch that also has invalid ones are applied. */
  readonly partial: boolean;
  /** The codes of problems that count as warnings. */
  readonly allow: readonly string[];
  /** The clients whose checks the resources have to pass. */
  readonly clients: readonly ResourceClient[];
  /** The field of a node that selects `_nodes/KEY`: `cluster`, `id`, `metadata.PATH`, ... */
  readonly nodeKey: string;
  /** The authorities that are served. Absent: all authorities of the folder. */
  readonly authorities?: readonly string[];
}

/** The number of bytes per type of replaced resources that are kept, for `xdstp status` and other callers of client status. It is large because a folder changes rarely, but then much of it changes. */
const replacedBytes = 16 << 20;

/** Serves until a signal stops it, and returns the exit code. Throws a CliError if it cannot start; nothing stays open then. */
export async function serve(options: ServeOptions, io: CliIo): Promise<number> {
  checkNodeKey(options.nodeKey);
  allowedCodes(options.allow);
  await checkFolder(options.dir);
  const registry = await loadRegistry(options.descriptors);
  return hostServer(
    { ...options, registry },
    (tell) => folderSupply({ ...options, registry }, io, tell),
    io,
  );
}

/** Returns the type URLs of the messages that `--descriptors` adds to the Envoy API. */
function ownTypes(registry: Registry): readonly string[] {
  const known = envoyRegistry();
  return [...registry]
    .filter(({ kind, typeName }) => kind === "message" && known.getMessage(typeName) === undefined)
    .map(({ typeName }) => `type.googleapis.com/${typeName}`);
}

function folderSupply(
  {
    dir,
    registry,
    allowMassDelete,
    partial,
    allow,
    clients,
    authorities,
    nodeKey,
  }: ServeOptions & Pick<HostOptions, "registry">,
  { clock }: CliIo,
  tell: Tell,
): Supply {
  const health = createHealthBook(clock);
  const nodes = createNodeCaches({
    keyOf: nodeField(nodeKey),
    types: envoyTypes,
    clock,
    replacedBytes,
    ...(authorities && { authorities }),
    onEvent: (event) => {
      tell({ from: "cache", event });
    },
  });
  const own = ownTypes(registry);
  const versions = (): ServedVersions => nodeVersions(nodes, own);
  const dangling = nodes.watchDangling((event) => {
    tell({ from: "cache", event });
  });
  const onEvent = (event: FolderEvent): void => {
    noteFolder(health, dir, event);
    if (event.kind !== "loaded") {
      tell({ from: "folder", event });
      return;
    }
    // The views of node keys get their revisions after that of the shared resources, so the newest revision is reported.
    tell({ from: "folder", event: { ...event, revision: nodes.revision } });
    const { shared, views, moreViews } = versions();
    tell({
      from: "serve",
      event: {
        kind: "versions",
        versions: shared,
        ...(Object.keys(views).length > 0 && { views }),
        ...(moreViews > 0 && { moreViews }),
      },
    });
  };
  const feed = createFolderFeed({
    dir,
    registry,
    nodes,
    allowMassDelete,
    partial,
    allow: allowedCodes(allow),
    clients,
    clock,
    ...(authorities && { authorities }),
    onEvent,
  });
  return {
    from: "serve",
    what: { dir },
    serving: nodes.serving,
    health: () => health.rows(),
    versions,
    held: () => ({
      ready: nodes.shared.ready,
      revision: nodes.revision,
      resources: nodes.resources,
    }),
    originOf: async (typeUrl, name, viewKey) => feed.originOf(typeUrl, name, { node: viewKey }),
    start: async () => nodes.shared.addFeed(feed).ended,
    async close() {
      dangling.close();
      await nodes.close();
    },
  };
}

/** Throws a CliError if the folder does not exist. A folder without read permission is accepted: it may become readable later, and the feed handles that (S-STREAM-9). */
async function checkFolder(dir: string): Promise<void> {
  try {
    await readdir(dir);
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""];
    if (reason !== undefined) throw new CliError(1, `${dir}: ${reason}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "the folder does not exist; make it (it may be empty), or name another",
  ENOTDIR:
    "this is not a folder; name the folder that holds AUTHORITY/TYPE/ID.yaml or _opaque/TYPE/NAME.yaml. To serve the static resources of an Envoy bootstrap, move them into a folder: xdstp import envoy FILE DIR",
  ELOOP: "this is a symbolic link that leads back to itself; fix it, or name another folder",
};
