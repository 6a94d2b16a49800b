import type { Fault } from "@xdstp/core";
import { referencesOf, serviceNameFault } from "@xdstp/resource-types";

import { readBeside } from "./read-beside.ts";

/** Why a walk rejects a resource; undefined: it may be taken. */
export type ResourceFault = (
  typeUrl: string,
  name: string,
  payload: Uint8Array,
) => Fault | undefined;

/** What gRPC rejects for want of a name to ask for (C-GRPC-3), and with `onlyAds` also a ConfigSource that says neither `ads` nor `self` (C-GRPC-18). */
export function createResourceFault(onlyAds: boolean): ResourceFault {
  return onlyAds
    ? (typeUrl, name, payload) =>
        serviceNameFault(typeUrl, name, payload) ?? sourceFault(typeUrl, payload)
    : serviceNameFault;
}

function sourceFault(typeUrl: string, payload: Uint8Array): Fault | undefined {
  const other = referencesOf(typeUrl, payload, { files: true }).find(({ source, within }) =>
    [source, within?.source].some(
      (said) => said !== undefined && readBeside(said).kind === "other",
    ),
  );
  return other === undefined
    ? undefined
    : {
        text: `the ConfigSource of ${JSON.stringify(other.name)} sets neither ads nor self`,
        rule: "C-GRPC-18",
      };
}
