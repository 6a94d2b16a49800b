import { fromBinary } from "@bufbuild/protobuf";
import { XdsError } from "@xdstp/core";
import { ConfigSourceSchema, type ConfigSource } from "@xdstp/protos/envoy/core";

import type { SourceConfig } from "../server-config.ts";
import { readConfigSource, type ReadConfigSourceOptions } from "./read-config-source.ts";

/**
 * Reads ConfigSources of payloads (`source` of a reference): the option `sourceOf` of `createClient`, so that a walk follows them (C-AUTH-4).
 * What it gives throws an XdsError for bytes that are none, for what {@link readConfigSource} rejects, and INVALID_ARGUMENT for `ads` and `self`, which need no reading.
 */
export function configSourceReader(
  options: ReadConfigSourceOptions = {},
): (configSource: Uint8Array) => SourceConfig {
  return (configSource) => {
    const read = readConfigSource(decoded(configSource), options);
    if (read.kind !== "servers")
      throw new XdsError(
        "INVALID_ARGUMENT",
        `the ConfigSource says ${read.kind}, and no servers of its own`,
      );
    const { servers, authorities } = read;
    return { servers, authorities };
  };
}

function decoded(bytes: Uint8Array): ConfigSource {
  try {
    return fromBinary(ConfigSourceSchema, bytes);
  } catch (cause) {
    throw new XdsError("INVALID_ARGUMENT", "the bytes are not a ConfigSource", { cause });
  }
}
