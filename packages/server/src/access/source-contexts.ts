import type { ResourceSource } from "@xdstp/core";
import type { ServerContext } from "@xdstp/protocol/server";
import { createDeltaServer, type DeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer, type SotwServer } from "@xdstp/transport-sotw/server";

/** The servers of both variants. */
export interface ServerEnds {
  readonly delta: DeltaServer;
  readonly sotw: SotwServer;
}

/** The context of a server for each of its sources; the same objects for the same source, for as long as it lives. */
export interface SourceContexts {
  of(source: ResourceSource): ServerContext;
  /** Streams on filters over one source, and on its views, share its ends, and with them their frames. */
  endsOf(source: ResourceSource): ServerEnds;
}

/** Contexts that differ from the one of the server in their source only. */
export function createSourceContexts(base: ServerContext): SourceContexts {
  const contexts = new WeakMap<ResourceSource, ServerContext>([[base.source, base]]);
  const ends = new WeakMap<ResourceSource, ServerEnds>();
  const of = (source: ResourceSource): ServerContext => {
    const known = contexts.get(source) ?? {
      ...base,
      source,
      get emit() {
        return base.emit;
      },
    };
    contexts.set(source, known);
    return known;
  };
  return {
    of,
    endsOf(source) {
      const known = ends.get(source) ?? {
        delta: createDeltaServer(of(source)),
        sotw: createSotwServer(of(source)),
      };
      ends.set(source, known);
      return known;
    },
  };
}
