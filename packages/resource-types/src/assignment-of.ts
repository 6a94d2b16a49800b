import { decodeText, varintValue, walkFields, WireType } from "@xdstp/core";
import { isFileSource } from "./is-file-source.ts";
import type { Range } from "./range.ts";

/** Fields of `envoy.config.cluster.v3.Cluster`. */
const NAME = 1;
const TYPE = 2;
const EDS_CLUSTER_CONFIG = 3;
const CLUSTER_TYPE = 38;
/** `Cluster.DiscoveryType`. */
const STATIC = 0;
const EDS = 3;
/** Of `Cluster.EdsClusterConfig`. */
const EDS_CONFIG = 1;
const SERVICE_NAME = 2;

/**
 * The ClusterLoadAssignment of a cluster: its `service_name`, else its own name; none where it is not of type EDS, or takes its endpoints from a file.
 * Reads what it can: of malformed bytes, the part in front of the fault.
 */
export function assignmentOf(bytes: Uint8Array, cluster: Range): string | undefined {
  let type = STATIC;
  let name = "";
  const eds: Eds = { serviceName: "", fromFile: false };
  walkFields(bytes, (field, start, end, wireType) => {
    if (field === TYPE && wireType === WireType.VARINT) type = varintValue(bytes, start, end);
    if (wireType !== WireType.LENGTH_DELIMITED) return true;
    if (field === CLUSTER_TYPE) type = STATIC;
    if (field === NAME) name = decodeText(bytes, start, end);
    if (field === EDS_CLUSTER_CONFIG) readEds(bytes, { start, end }, eds);
    return true;
  }, cluster);
  const assignment = eds.serviceName === "" ? name : eds.serviceName;
  return type === EDS && !eds.fromFile && assignment !== "" ? assignment : undefined;
}

interface Eds {
  serviceName: string;
  fromFile: boolean;
}

/** A field that occurs again replaces what was there, as in every decoder. */
function readEds(bytes: Uint8Array, config: Range, into: Eds): void {
  walkFields(bytes, (field, start, end, wireType) => {
    if (wireType !== WireType.LENGTH_DELIMITED) return true;
    if (field === EDS_CONFIG) into.fromFile = isFileSource(bytes, { start, end });
    if (field === SERVICE_NAME) into.serviceName = decodeText(bytes, start, end);
    return true;
  }, config);
}
