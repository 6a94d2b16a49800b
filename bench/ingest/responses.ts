import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";

import { clusterTemplate, clusterType } from "../clusters.ts";

/** The glob that everything is a member of. */
export const globName = "xdstp://bench/envoy.config.cluster.v3.Cluster/all/*";

/** The name of a member. */
export function memberName(index: number): string {
  return `xdstp://bench/envoy.config.cluster.v3.Cluster/all/service-${index}`;
}

const template = clusterTemplate();

/** Encoded delta responses with `count` members in all, so many in each. */
export function responsesOf(count: number, each: number, stamp = 0): readonly Buffer[] {
  return Array.from({ length: Math.ceil(count / each) }, (_, index) =>
    responseOf(index * each, Math.min(count, (index + 1) * each), stamp, index + 1),
  );
}

function responseOf(from: number, to: number, stamp: number, nonce: number): Buffer {
  const resources = Array.from({ length: to - from }, (_, index) => ({
    name: memberName(from + index),
    version: `v${stamp}-${from + index}`,
    resource: { typeUrl: clusterType, value: template.fill(from + index, stamp) },
  }));
  return Buffer.from(
    toBinary(
      DeltaDiscoveryResponseSchema,
      create(DeltaDiscoveryResponseSchema, {
        typeUrl: clusterType,
        nonce: `${stamp}-${nonce}`,
        resources,
      }),
    ),
  );
}

/** One member in another state. */
export function changeOf(index: number, stamp: number): Buffer {
  return responseOf(index, index + 1, stamp, index);
}
