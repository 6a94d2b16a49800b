import {
  type ApiConfigSource,
  ApiConfigSource_ApiType as ApiType,
  ApiVersion,
  type RateLimitSettings,
} from "@xdstp/protos/envoy/core";
import { inside, type Place, unsupportedAt, wrongAt } from "../grpc/place.ts";
import type { ServerConfig } from "../server-config.ts";
import type { EnvoyBootstrap } from "./config-source.ts";
import { readGrpcService } from "./read-grpc-service.ts";
import { readRestSource } from "./read-rest-source.ts";

/** The variant of each API type, and whether it uses one stream for all types (C-AGG-2). */
const kinds: ReadonlyMap<ApiType, Required<Pick<ServerConfig, "variant" | "aggregated">>> = new Map(
  [
    [ApiType.GRPC, { variant: "sotw", aggregated: false }],
    [ApiType.DELTA_GRPC, { variant: "delta", aggregated: false }],
    [ApiType.AGGREGATED_GRPC, { variant: "sotw", aggregated: true }],
    [ApiType.AGGREGATED_DELTA_GRPC, { variant: "delta", aggregated: true }],
  ],
);

/**
 * Returns the servers of an ApiConfigSource in order of preference: its `grpc_services`, or its
 * `cluster_names` for REST, are tried one after the other.
 * @param isAds - True for `ads_config` of a bootstrap: then GRPC and DELTA_GRPC use one stream for
 * all types
 */
export function readApiConfigSource(
  config: ApiConfigSource,
  place: Place,
  clusters: EnvoyBootstrap["clusters"],
  isAds = false,
): readonly ServerConfig[] {
  const isRest = config.apiType === ApiType.REST && !isAds;
  const kind = isRest ? undefined : kindOf(config, place);
  checkTransportVersion(config.transportApiVersion, inside(place, "transport_api_version"));
  checkValidators(config, place);
  if (kind === undefined) return readRestSource(config, place, clusters);
  if (config.clusterNames.length > 0)
    throw wrongAt(
      inside(place, "cluster_names"),
      "is for REST; name the cluster in grpc_services, as envoy_grpc",
    );
  if (config.grpcServices.length === 0)
    throw wrongAt(place, "has no grpc_services; give one with google_grpc or envoy_grpc");
  const { rateLimitSettings: settings } = config;
  const how = {
    ...kind,
    ...(isAds && { aggregated: true }),
    keepRemoved: false,
    ...(settings !== undefined && { rate: rateOf(settings, inside(place, "rate_limit_settings")) }),
  };
  return config.grpcServices
    .flatMap((service, index) =>
      readGrpcService(service, inside(place, "grpc_services", index), clusters),
    )
    .map((server) => ({ ...server, ...how }));
}

function checkValidators({ configValidators }: ApiConfigSource, place: Place): void {
  if (configValidators.length > 0)
    throw unsupportedAt(
      inside(place, "config_validators"),
      "would be left out; validate where you watch",
    );
}

function kindOf(
  { apiType }: ApiConfigSource,
  place: Place,
): Required<Pick<ServerConfig, "variant" | "aggregated">> {
  const kind = kinds.get(apiType);
  if (kind !== undefined) return kind;
  const known = "AGGREGATED_GRPC, AGGREGATED_DELTA_GRPC, GRPC or DELTA_GRPC";
  if (apiType === ApiType.REST)
    throw wrongAt(
      inside(place, "api_type"),
      `is REST, which polls for each type and has no stream for all; give ${known}`,
    );
  throw wrongAt(
    inside(place, "api_type"),
    `is ${Number(apiType) === 0 ? "missing" : String(apiType)}; give ${known}`,
  );
}

type Rate = NonNullable<ServerConfig["rate"]>;

/** Returns a rate. The defaults are 100 tokens, and 10 new ones per second. */
function rateOf({ maxTokens = 100, fillRate = 10 }: RateLimitSettings, place: Place): Rate {
  if (maxTokens < 1)
    throw wrongAt(inside(place, "max_tokens"), "is 0: nothing could ever be asked for");
  if (!(fillRate > 0 && Number.isFinite(fillRate)))
    throw wrongAt(
      inside(place, "fill_rate"),
      `is ${fillRate}; give requests per second, above zero`,
    );
  return { burst: maxTokens, perSecond: fillRate };
}

/**
 * Throws if a ConfigSource requires resources of a version other than v3. AUTO is the value of an
 * absent field; v2 was removed everywhere.
 */
export function checkVersion(version: ApiVersion, place: Place): void {
  if (version !== ApiVersion.V3 && version !== ApiVersion.AUTO)
    throw wrongAt(place, `is ${nameOf(version)}; there is only V3`);
}

/** Throws if the transport version is not set to v3, as Envoy does. */
function checkTransportVersion(version: ApiVersion, place: Place): void {
  if (version !== ApiVersion.V3)
    throw wrongAt(
      place,
      `is ${nameOf(version)}; there is only V3: write transport_api_version: V3`,
    );
}

function nameOf(version: ApiVersion): string {
  return (
    Object.entries(ApiVersion).find(([, number]) => number === version)?.[0] ?? String(version)
  );
}
