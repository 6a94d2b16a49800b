import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";

import { clusterTemplate, clusterType } from "../clusters.ts";
import { createTemplate, stampText, type Template } from "../template.ts";
import type { RestProtocol } from "./poll-scenario.ts";

/** Ready answers over REST with this number of clusters, all of them new with each stamp. */
export function restAnswers(protocol: RestProtocol, resources: number): Template {
  const template = clusterTemplate();
  const response = create(DiscoveryResponseSchema, {
    versionInfo: stampText(0),
    nonce: stampText(0),
    typeUrl: clusterType,
    resources: Array.from({ length: resources }, (_, index) => ({
      typeUrl: clusterType,
      value: template.fill(index, 0),
    })),
  });
  return createTemplate(
    protocol === "rest-json"
      ? Buffer.from(toJsonString(DiscoveryResponseSchema, response, { registry: envoyRegistry() }))
      : toBinary(DiscoveryResponseSchema, response),
  );
}
