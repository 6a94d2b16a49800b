import { createCache } from "@xdstp/cache";
import { type FolderEvent, createFolderFeed } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { type ServerEvent, type XdsServer, createServer } from "@xdstp/server";

/** A folder, served over xDS. */
export interface ControlPlane {
  readonly port: number;
  status(): ReturnType<XdsServer["status"]>;
  close(): Promise<void>;
}

/** The settings of {@link startControlPlane}. */
export interface ControlPlaneOptions {
  readonly dir: string;
  readonly port: number;
  readonly onFolder: (event: FolderEvent) => void;
  readonly onServer: (event: ServerEvent) => void;
}

/** A whole control plane: a feed of files, a cache, a server. */
export async function startControlPlane({
  dir,
  port,
  onFolder,
  onServer,
}: ControlPlaneOptions): Promise<ControlPlane> {
  const cache = createCache({ types: envoyTypes });
  cache.addFeed(createFolderFeed({ dir, registry: envoyRegistry(), onEvent: onFolder }));
  const server = createServer({ source: cache, controlPlane: "mesh", onEvent: onServer });
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 500 });
    await cache.close();
  };
  try {
    const address = await server.listen({ port });
    return { port: address.port, status: () => server.status(), close };
  } catch (error) {
    await close();
    throw error;
  }
}
