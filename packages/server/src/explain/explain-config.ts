import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { anyPack, StructSchema } from "@bufbuild/protobuf/wkt";
import {
  type ClientConfig,
  ClientConfig_GenericXdsConfigSchema,
  ClientConfigSchema,
  type ClientStatusRequest,
  ConfigStatus,
} from "@xdstp/protos/status";

import type { Explanation, ExplainQuestion } from "./explanation.ts";

/**
 * A `client_features` entry of the caller, and the key of its `node.metadata` with the question: an object with `node`, `type_url` and `name`.
 * The answer is then the explanation alone; servers that do not know it answer with client status, for which the caller gives `node_matchers`.
 */
export const EXPLAIN = "xdstp.status.explain";

/** Reads the question of a request. Parts that it does not have are empty. */
export function questionIn({ node }: ClientStatusRequest): ExplainQuestion {
  const asked = node?.metadata?.[EXPLAIN];
  const fields = typeof asked === "object" && asked !== null && !Array.isArray(asked) ? asked : {};
  const text = (key: string): string => {
    const value = fields[key];
    return typeof value === "string" ? value : "";
  };
  return { node: text("node"), typeUrl: text("type_url"), name: text("name") };
}

/** Returns an explanation as a `ClientConfig` with {@link EXPLAIN} as its scope. It has one row, whose `xds_config` is a `Struct` with the members of {@link Explanation}. */
export function explainConfig(
  explanation: Explanation,
  spend: (row: ClientConfig["genericXdsConfigs"][number]) => void,
): ClientConfig {
  const { typeUrl, name, streams } = explanation;
  const isAccepted = streams.some(({ held }) => held.what === "newest");
  const row = create(ClientConfig_GenericXdsConfigSchema, {
    typeUrl,
    name,
    configStatus: isAccepted ? ConfigStatus.SYNCED : ConfigStatus.NOT_SENT,
    xdsConfig: anyPack(
      StructSchema,
      fromJson(StructSchema, JSON.parse(JSON.stringify(explanation)) as JsonObject),
    ),
  });
  spend(row);
  return create(ClientConfigSchema, { clientScope: EXPLAIN, genericXdsConfigs: [row] });
}
