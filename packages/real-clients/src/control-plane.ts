import { type Cache, createCache } from "@xdstp/cache";
import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { envoyTypes } from "@xdstp/resource-types";
import { type ServerEvent, type ServerOptions, type XdsServer, createServer } from "@xdstp/server";
import { onTestFinished } from "vitest";
import type { TestResource } from "./resources.ts";
import { traceLine } from "./trace-line.ts";
import { patienceMs } from "./until.ts";

/** A management server that a suite writes to. */
export interface ControlPlane {
  readonly port: number;
  /** All that has happened; it grows. */
  readonly events: readonly ServerEvent[];
  /** Puts and removes at once, as one transaction; gives its revision. */
  publish(
    put: readonly TestResource[],
    remove?: readonly Pick<TestResource, "typeUrl" | "name">[],
  ): number;
  /** Resolves when every client that a revision concerns has accepted it. Rejects when one rejects it, or after `timeoutMs` (default: as long as a suite waits for anything). */
  accepted(revision: number, timeoutMs?: number): Promise<void>;
  /** The newest responses, ACKs and NACKs, one per line. */
  trace(): readonly string[];
  status(): ReturnType<XdsServer["status"]>;
  stats(): ReturnType<XdsServer["stats"]>;
  /** Replaces certificate and authorities, for connections to come. */
  setTls: XdsServer["setTls"];
  /** The texts of the NACKs that the status shows now. */
  nacks(): readonly string[];
  /** Cuts every connection and closes the port. */
  down(): Promise<void>;
  /** Listens again, on the same port. */
  up(): Promise<void>;
}

/** Starts a management server on a free port of the loopback, for the time of the test. */
export function useControlPlane(...first: readonly TestResource[]): Promise<ControlPlane> {
  return useControlPlaneWith({}, ...first);
}

/** The same with options of its server. */
export async function useControlPlaneWith(
  options: Omit<ServerOptions, "source" | "onEvent">,
  ...first: readonly TestResource[]
): Promise<ControlPlane> {
  const cache = createCache({ types: envoyTypes });
  const events: ServerEvent[] = [];
  const told: string[] = [];
  const onEvent = (event: ServerEvent): void => {
    events.push(event);
    told.push(traceLine(event));
  };
  const open = async (
    port: number,
  ): Promise<{ readonly server: XdsServer; readonly port: number }> => {
    const server = createServer({ ...options, source: cache, onEvent });
    return { server, port: (await server.listen({ port })).port };
  };
  publish(cache, first, []);
  let { server, port } = await open(0);
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await cache.close();
  });
  const status: ControlPlane["status"] = () => server.status();
  return {
    port,
    events,
    publish: (put, remove = []) => publish(cache, put, remove),
    accepted: async (revision, timeoutMs = patienceMs) => {
      await server.waitForAck(revision, { timeout: timeoutMs });
    },
    trace: () => told.slice(-60),
    status,
    stats: () => server.stats(),
    setTls: (tls) => {
      server.setTls(tls);
    },
    nacks: () =>
      status()
        .flatMap(({ types }) => types)
        .flatMap(({ lastError, state }) =>
          state === "NACKED" && lastError !== undefined ? [lastError.message] : [],
        ),
    down: () => server.close({ graceMs: 0 }),
    up: async () => {
      ({ server, port } = await open(port));
    },
  };
}

function publish(
  cache: Cache,
  put: readonly TestResource[],
  remove: readonly Pick<TestResource, "typeUrl" | "name">[],
): number {
  const { revision } = cache.transaction((writer) => {
    for (const { typeUrl, name, body, ttlMs } of put) {
      writer.put({
        typeUrl,
        name,
        value: anyFromJson({ "@type": typeUrl, ...body }, envoyRegistry()).value,
        ...(ttlMs === undefined ? {} : { ttlMs }),
      });
    }
    for (const { typeUrl, name } of remove) writer.remove(typeUrl, name);
  });
  return revision;
}
