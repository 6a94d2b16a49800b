import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ClientStatusResponse } from "@xdstp/protos/status";
import { fieldsOf } from "./server-facts.ts";

/** The client feature that requests an explanation, the key of the question in `node.metadata`, and the scope of the answer. */
export const EXPLAIN = "xdstp.status.explain";

/** An explanation as a server has sent it, as much of it as is shown. All of it is text of a stranger. */
export interface ToldExplanation {
  /** All of it, for programs. */
  readonly json: JsonObject;
  readonly text: string;
  readonly streams: readonly JsonObject[];
  /** Ids of connected nodes, where the node is not connected. */
  readonly nodes: readonly string[];
  /** Names of the type, where the name is not known. */
  readonly names: readonly string[];
}

/** Reads the explanation of an answer. undefined: the server does not explain. */
export function toldExplanation({ config }: ClientStatusResponse): ToldExplanation | undefined {
  const found = config.find(
    ({ clientScope, node }) => clientScope === EXPLAIN && node === undefined,
  );
  if (found === undefined) return undefined;
  const json = fieldsOf(found.genericXdsConfigs[0]?.xdsConfig);
  const { text, streams, nodes, names } = json;
  return {
    json,
    text: textOf(text),
    streams: listOf(streams).filter(isObject),
    nodes: listOf(nodes).map(textOf),
    names: listOf(names).map(textOf),
  };
}

/** A member that is an object; empty where it is none. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

/** A member that is a text; empty where it is none. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
