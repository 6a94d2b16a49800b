import type { ResourceSource } from "@xdstp/core";
import type { RejectedVersion, StreamEvent } from "@xdstp/protocol/server";
import { clientKey, readerView } from "@xdstp/rollout";

import type { Tenants } from "./opaque/create-tenants.ts";
import type { RelayPeer, RelayServing } from "./relay.ts";

/** What a relay serves. */
export interface ServingParts {
  /** For all clients. */
  readonly shared: ResourceSource;
  /** Absent: all clients are served the same. */
  readonly tenants: Tenants | undefined;
  /** Whether some clients see what has changed first. */
  readonly isStaged: boolean;
  /** Takes notice of what clients answer. */
  readonly observe: (event: StreamEvent) => void;
  /** What they have rejected. */
  readonly rejections: () => readonly RejectedVersion[];
}

/** What `createServer` needs: whom to serve what, and who listens. */
export function servingOf({
  shared,
  tenants,
  isStaged,
  observe,
  rejections,
}: ServingParts): RelayServing {
  const source = Object.assign(tenants?.viewFor(undefined) ?? shared, { observe, rejections });
  const sourceFor = (peer: RelayPeer): ResourceSource => {
    const view = tenants?.viewFor(peer.node) ?? source;
    const client = isStaged && !isFetch(peer) ? clientKey(peer) : undefined;
    return client === undefined ? view : readerView(view, client);
  };
  return { source, ...((tenants !== undefined || isStaged) && { sourceFor }) };
}

/** Who fetches never says whether it accepts, unless it fetches again. */
function isFetch({ path }: RelayPeer): boolean {
  return path?.includes("/Fetch") === true;
}
