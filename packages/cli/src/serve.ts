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

/** What `xdstp serve` was asked to do. */
export interface ServeOptions extends Omit<HostOptions, "registry"> {
  readonly dir: string;
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  readonly allowMassDelete: boolean;
  /** Whether the good resources of a batch with broken ones are applied. */
  readonly partial: boolean;
  /** Codes of problems that are warnings. */
  readonly allow: readonly string[];
  /** Whose rules resources have to follow. */
  readonly clients: readonly ResourceClient[];
  /** The field of a node that selects `_nodes/KEY`: `cluster`, `id`, `metadata.PATH`, ... */
  readonly nodeKey: string;
  /** Absent: all that the folder holds. */
  readonly authorities?: readonly string[];
}

/** A folder changes seldom, and then much of it: of each type so much is kept of what was before, for `xdstp status` and others who ask what a client holds. */
const replacedBytes = 16 << 20;

/** Serves until it is asked to stop; the answer is the exit code. Throws a CliError if it cannot begin: then nothing is left open. */
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

/** Type URLs of the messages that `--descriptors` add to the API of Envoy. */
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
    // Views of node keys follow shared resources at revisions of their own, after that of the folder.
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

/** Throws a CliError if the folder does not exist. A folder that cannot be read may become readable: the feed handles that, and later losses (S-STREAM-9). */
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
