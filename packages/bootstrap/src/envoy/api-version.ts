import { ApiVersion } from "@xdstp/protos/envoy/core";

import { wrongAt, type Place } from "../grpc/place.ts";

/** Throws where a ConfigSource wants resources of a version other than v3. AUTO is the value of an absent field; v2 was removed everywhere. */
export function checkVersion(version: ApiVersion, place: Place): void {
  if (version !== ApiVersion.V3 && version !== ApiVersion.AUTO)
    throw wrongAt(place, `is ${nameOf(version)}; there is only V3`);
}

/** Throws where the transport is not said to be v3, as Envoy does. */
export function checkTransportVersion(version: ApiVersion, place: Place): void {
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
