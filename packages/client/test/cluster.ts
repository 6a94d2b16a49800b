import { create, fromBinary, toBinary, type DescMessage } from "@bufbuild/protobuf";
import { envoyRegistry } from "@xdstp/protos/envoy";

import type { WatchedType } from "../src/index.ts";

/** The fields of `envoy.config.cluster.v3.Cluster` that tests read. */
export interface Cluster {
  readonly name: string;
  readonly connectTimeout?: { readonly seconds: bigint };
}

const schema = schemaOf("envoy.config.cluster.v3.Cluster");

export const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A custom type over a schema of the registry. */
export const clusterType: WatchedType<Cluster> = {
  typeUrl: clusterUrl,
  decode: (payload) => fromBinary(schema, payload) as unknown as Cluster,
};

/** Returns an encoded cluster. */
export function clusterOf(name: string, seconds = 1): Uint8Array {
  return toBinary(
    schema,
    create(schema, {
      name,
      connectTimeout: { $typeName: "google.protobuf.Duration", seconds: BigInt(seconds), nanos: 0 },
    }),
  );
}

function schemaOf(name: string): DescMessage {
  const found = envoyRegistry().getMessage(name);
  if (found === undefined) throw new Error(`the registry has no ${name}`);
  return found;
}
