import type { JsonValue } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";
import { collectionTypeOf, isGlob, parseLocator, typeFromTypeUrl } from "@xdstp/uri";
import { type Place, type Placed, wrongAt } from "../grpc/place.ts";
import type { ServerConfig, SourceConfig } from "../server-config.ts";
import type { EnvoyConfigSource } from "./config-source.ts";

/** A ConfigSource of a bootstrap, and its place. */
export interface PlacedSource {
  readonly source: EnvoyConfigSource;
  readonly place: Place;
}

/** The ConfigSources of a bootstrap. */
interface BootstrapConfigSources {
  /** `config_sources`. */
  readonly listed: readonly PlacedSource[];
  /** `default_config_source`. */
  readonly fallback: PlacedSource | undefined;
  /** `lds_config` and `cds_config`. */
  readonly dynamic: readonly PlacedSource[];
  readonly ads: readonly ServerConfig[] | undefined;
  /** The bootstrap. */
  readonly place: Place;
}

const adsPlace = "dynamic_resources.ads_config";

/**
 * Returns the sources in the order of C-AUTH-1. The last of `config_sources` may have no
 * authorities: then it is the default.
 */
export function bootstrapSources({
  listed,
  fallback,
  dynamic,
  ads,
  place,
}: BootstrapConfigSources): readonly SourceConfig[] {
  for (const one of dynamic) serversOf(one, ads);
  const last = listed.at(-1);
  const own = last?.source.authorities.length === 0 ? last : undefined;
  if (own !== undefined && fallback !== undefined)
    throw wrongAt(
      own.place,
      "has no authorities, so it is the default, and there is default_config_source; leave one out",
    );
  const standard = own ?? fallback;
  const named = (own === undefined ? listed : listed.slice(0, -1)).map((one) => ({
    servers: serversOf(one, ads),
    authorities: authoritiesOf(one),
    place: one.place.path,
  }));
  const others = [
    ...named,
    ...(standard === undefined
      ? []
      : [{ servers: serversOf(standard, ads), place: standard.place.path }]),
  ];
  if (ads === undefined && others.length + dynamic.length === 0)
    throw wrongAt(
      place,
      "names no management server; give dynamic_resources.ads_config, config_sources or default_config_source",
    );
  if (ads === undefined) return others;
  return others.length === 0
    ? [{ servers: ads, place: adsPlace }]
    : [...named, { servers: ads, opaque: true, place: adsPlace }, ...others.slice(named.length)];
}

function authoritiesOf({ source: { authorities }, place }: PlacedSource): readonly string[] {
  if (authorities.length > 0) return authorities;
  throw wrongAt(
    place,
    "has no authorities, so that nothing would be asked of it; only the last of config_sources may be without, as the default",
  );
}

function serversOf(
  { source, place }: PlacedSource,
  ads: readonly ServerConfig[] | undefined,
): readonly ServerConfig[] {
  if (source.kind === "servers") return source.servers;
  if (source.kind === "self")
    throw wrongAt(
      place,
      "says self, which is the server of a reference; a bootstrap does not come from a server: give ads or api_config_source",
    );
  if (ads === undefined)
    throw wrongAt(place, "says ads, and the bootstrap has no dynamic_resources.ads_config");
  return ads;
}

/**
 * Returns a locator of `dynamic_resources` under a key, or an empty object. Throws an XdsError for
 * a locator that is not a collection of the type.
 */
export function readLocator<const Key extends string>(
  key: Key,
  found: Placed<JsonValue> | undefined,
  { typeUrl }: ResourceType,
): Partial<Record<Key, string>> {
  if (found === undefined || found.value === "") return {};
  const { value, place } = found;
  const own = typeFromTypeUrl(typeUrl) ?? "";
  if (typeof value !== "string" || !isCollection(value, own, place))
    throw wrongAt(
      place,
      `is ${JSON.stringify(value)}; give a collection like "xdstp://authority/${own}/*"`,
    );
  return { [key]: value } as Partial<Record<Key, string>>;
}

/** Returns true for a glob or a list. It may have directives. */
function isCollection(text: string, type: string, place: Place): boolean {
  const parsed = parseLocator(text);
  if (!parsed.ok)
    throw wrongAt(place, `is not a locator: ${parsed.error.message}`, parsed.error.rule);
  const { value: locator } = parsed;
  return (
    locator.scheme === "xdstp" &&
    (locator.resourceType === collectionTypeOf(type) ||
      (locator.resourceType === type && isGlob(text.replace(/#.*/s, ""))))
  );
}
