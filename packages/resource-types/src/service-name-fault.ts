import type { Fault } from "@xdstp/core";
import { assignmentOf } from "./assignment-of.ts";
import { typeUrls } from "./type-urls.ts";

/**
 * Why a client rejects a cluster with an xdstp name that takes its endpoints by EDS and does not say under which name (C-GRPC-3): its own name is one of another type. undefined: it may be taken, as may whatever is not a cluster.
 * @param name - Of the resource
 */
export function serviceNameFault(
  typeUrl: string,
  name: string,
  payload: Uint8Array,
): Fault | undefined {
  if (typeUrl !== typeUrls.cluster || !name.startsWith("xdstp:")) return undefined;
  const isNamed = assignmentOf(payload, { start: 0, end: payload.length })?.isService ?? true;
  return isNamed
    ? undefined
    : {
        text: `${JSON.stringify(name)} does not name its endpoints; a cluster with an xdstp name needs eds_cluster_config.service_name`,
        rule: "C-GRPC-3",
      };
}
