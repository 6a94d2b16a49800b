import {
  createRegistry,
  type JsonObject,
  type JsonValue,
  toBinary,
  create,
} from "@bufbuild/protobuf";
import type { Put } from "@xdstp/core";
import { DiscoveryResponseSchema, ResourceSchema } from "@xdstp/protos/discovery";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { cluster } from "@xdstp/resource-types";

export const CLUSTERS = cluster.typeUrl;
export const registry = createRegistry(ClusterSchema, DiscoveryResponseSchema, ResourceSchema);

/** The places of files: the directory of an export, a volume of Kubernetes, and a directory with one file for each name. */
export const places = ["export", "volume", "native"] as const;
export type Place = (typeof places)[number];

export const EXPORT_DIR = "/export";
export const EXPORT_FILE = `${EXPORT_DIR}/cds.json`;
export const VOLUME_DIR = "/volume";
/** A link to a file below another link, which is replaced with each change. */
export const VOLUME_FILE = `${VOLUME_DIR}/cds.json`;
export const NATIVE_DIR = "/native";

export const fileNames: readonly string[] = ["a", "b", "c"];

export function nativePath(name: string): string {
  return `${NATIVE_DIR}/${name}.json`;
}

/** The cluster of a state; its timeout tells states apart. */
export function putsOf(name: string, text: string): readonly Put[] {
  const seconds = BigInt(text === "" ? 0 : text.slice(1));
  const value = toBinary(
    ClusterSchema,
    create(ClusterSchema, { name, connectTimeout: { seconds } }),
  );
  return [
    { typeUrl: CLUSTERS, resource: { name, version: "", payload: { typeUrl: CLUSTERS, value } } },
  ];
}

function jsonOf(name: string, text: string): JsonObject {
  return { "@type": CLUSTERS, name, connect_timeout: `${text.slice(1)}s` };
}

/** Returns the text of a file with these resources. */
export function responseText(texts: ReadonlyMap<string, string>): string {
  return JSON.stringify({ resources: Array.from(texts, ([name, text]) => jsonOf(name, text)) });
}

/** Returns the text of a file with one resource. */
export function nativeText(name: string, text: string): string {
  return JSON.stringify({ resource: jsonOf(name, text) });
}

/** Returns the states of the names in a file. undefined: it is not whole. */
export function textsIn(file: string): ReadonlyMap<string, string> | undefined {
  try {
    const read = JSON.parse(file) as { resources?: readonly JsonValue[]; resource?: JsonValue };
    const members = (read.resources ?? [read.resource ?? {}]) as readonly JsonObject[];
    return new Map(
      members.map(({ name, connect_timeout: timeout }) => [
        name as string,
        `v${(timeout as string).replace("s", "")}`,
      ]),
    );
  } catch {
    return undefined;
  }
}
