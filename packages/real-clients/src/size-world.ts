import { cluster as clusterType, clusterLoadAssignment } from "@xdstp/resource-types";
import { type ControlPlane, useControlPlaneWith } from "./control-plane.ts";
import type { TestResource } from "./resources.ts";
import type { SizeCase } from "./size-cases.ts";
import { type SlowLink, useSlowLink } from "./use-slow-link.ts";

/** As long as the slowest link takes for the largest state. */
export const patienceMs = 600_000;
/** A megabyte, as links count them. */
export const MB = 1_000_000;

/** Returns a static cluster of about this size in bytes, with a text that is never read. */
export function clusterOf(index: number, bytes: number, word = "first"): TestResource {
  const name = `cluster-${String(index).padStart(6, "0")}`;
  const filler = "x".repeat(Math.max(1, bytes - 150));
  return {
    typeUrl: clusterType.typeUrl,
    name,
    body: {
      name,
      type: "STATIC",
      connect_timeout: "1s",
      alt_stat_name: word,
      metadata: { filter_metadata: { "suite.filler": { text: filler } } },
    },
  };
}

/** Returns endpoints of about this size in bytes. */
export function endpointsOf(index: number, bytes: number, word = "first"): TestResource {
  const name = `endpoints-${String(index).padStart(6, "0")}`;
  const filler = "x".repeat(Math.max(1, bytes - 150));
  const locality = {
    locality: { zone: word },
    lb_endpoints: [
      {
        endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: 1 } } },
        metadata: { filter_metadata: { "suite.filler": { text: filler } } },
      },
    ],
  };
  return {
    typeUrl: clusterLoadAssignment.typeUrl,
    name,
    body: { cluster_name: name, endpoints: [locality] },
  };
}

/** A server with a large state, and the link to it. */
export interface SizeWorld {
  readonly controlPlane: ControlPlane;
  readonly link: SlowLink;
  /** Returns the numbers of calls and connections that the server has ended, by reason. */
  readonly cuts: () => object;
}

/** Serves this state for the time of the test. */
export async function useSizeWorld(
  { link: kind }: SizeCase,
  resources: readonly TestResource[],
): Promise<SizeWorld> {
  const controlPlane = await useControlPlaneWith({}, ...resources);
  const link = await useSlowLink(controlPlane.port, kind);
  return { controlPlane, link, cuts: () => controlPlane.stats().wire.cuts };
}

/** A state of this size, made of such resources. */
export function stateOf(
  { megabytes, resources }: SizeCase,
  make: typeof clusterOf,
): readonly TestResource[] {
  return Array.from({ length: resources }, (_, index) =>
    make(index, Math.ceil((megabytes * MB) / resources)),
  );
}
