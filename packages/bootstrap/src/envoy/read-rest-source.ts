import type { Duration } from "@bufbuild/protobuf/wkt";
import type { ApiConfigSource } from "@xdstp/protos/envoy/core";

import { inside, type Place, wrongAt } from "../grpc/place.ts";
import type { RestPolls, ServerConfig } from "../server-config.ts";
import type { EnvoyBootstrap } from "./config-source.ts";
import { readDuration } from "./read-duration.ts";

/**
 * Returns the servers of an ApiConfigSource of the type REST in order of preference: those of its
 * `cluster_names`, one cluster after the other (C-REST-7).
 * `rate_limit_settings` are ignored, as by Envoy: `refresh_delay` limits the polls.
 */
export function readRestSource(
  config: ApiConfigSource,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
): readonly ServerConfig[] {
  if (config.grpcServices.length > 0)
    throw wrongAt(inside(place, "grpc_services"), "is for gRPC; name the cluster in cluster_names");
  if (config.clusterNames.length === 0)
    throw wrongAt(place, "has no cluster_names; give the name of a static cluster");
  const rest = pollsOf(config, place);
  return config.clusterNames
    .flatMap((name, index) => {
      const servers = clusters(name, "rest");
      if (servers === undefined || servers.length === 0)
        throw wrongAt(
          inside(place, "cluster_names", index),
          `is ${JSON.stringify(name)}, and this static cluster does not exist; add it under static_resources.clusters`,
        );
      return servers;
    })
    .map((server) => ({
      ...server,
      variant: "sotw",
      aggregated: false,
      keepRemoved: false,
      rest,
    }));
}

function pollsOf({ refreshDelay, requestTimeout }: ApiConfigSource, place: Place): RestPolls {
  if (refreshDelay === undefined)
    throw wrongAt(place, "has no refresh_delay, which REST needs; give one such as 5s");
  return {
    refreshMs: aboveZero(refreshDelay, inside(place, "refresh_delay")),
    ...(requestTimeout !== undefined && {
      requestTimeoutMs: aboveZero(requestTimeout, inside(place, "request_timeout")),
    }),
  };
}

function aboveZero(duration: Duration, place: Place): number {
  const ms = readDuration(duration, place);
  if (ms === 0) throw wrongAt(place, "is 0; give a time above zero");
  return ms;
}
