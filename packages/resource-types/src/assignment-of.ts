import type { Fault } from "@xdstp/core";
import { decodeText, varintValue, walkFields, WireType } from "@xdstp/core/wire";

import { type Range, sourceKind } from "./source-kind.ts";
import { typeUrls } from "./type-urls.ts";

/** Fields of `envoy.config.cluster.v3.Cluster`. */
const NAME = 1;
const TYPE = 2;
const EDS_CLUSTER_CONFIG = 3;
const CLUSTER_TYPE = 38;
/** `Cluster.DiscoveryType`. */
const STATIC = 0;
const EDS = 3;
/** Field numbers of `Cluster.EdsClusterConfig`. */
const EDS_CONFIG = 1;
const SERVICE_NAME = 2;

/** The source of the endpoints of a cluster. */
interface Assignment {
  /** `service_name`, else the name of the cluster. */
  readonly name: string;
  /** True if `name` is the `service_name`. */
  readonly isService: boolean;
  /** Its ConfigSource as a place in the bytes. undefined: there is none. */
  readonly source: Range | undefined;
  readonly kind: ReturnType<typeof sourceKind>;
}

/**
 * Returns the ClusterLoadAssignment of a cluster: its `service_name`, else its own name. undefined: the cluster is not of type EDS, or has no name.
 * It reads malformed bytes up to the fault.
 */
export function assignmentOf(bytes: Uint8Array, cluster: Range): Assignment | undefined {
  let type = STATIC;
  let name = "";
  const eds: Eds = { serviceName: "", kind: "ads", source: undefined };
  walkFields(
    bytes,
    (field, start, end, wireType) => {
      if (field === TYPE && wireType === WireType.VARINT) type = varintValue(bytes, start, end);
      if (wireType !== WireType.LENGTH_DELIMITED) return true;
      if (field === CLUSTER_TYPE) type = STATIC;
      if (field === NAME) name = decodeText(bytes, start, end);
      if (field === EDS_CLUSTER_CONFIG) readEds(bytes, { start, end }, eds);
      return true;
    },
    cluster,
  );
  const { serviceName, kind, source } = eds;
  const isService = serviceName !== "";
  if (type !== EDS || (!isService && name === "")) return undefined;
  return { name: isService ? serviceName : name, isService, kind, source };
}

interface Eds {
  serviceName: string;
  source: Range | undefined;
  kind: Assignment["kind"];
}

/** A field that occurs again replaces what was there, as in every decoder. */
function readEds(bytes: Uint8Array, config: Range, into: Eds): void {
  walkFields(
    bytes,
    (field, start, end, wireType) => {
      if (wireType !== WireType.LENGTH_DELIMITED) return true;
      if (field === EDS_CONFIG) {
        into.source = { start, end };
        into.kind = sourceKind(bytes, into.source);
      }
      if (field === SERVICE_NAME) into.serviceName = decodeText(bytes, start, end);
      return true;
    },
    config,
  );
}

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
