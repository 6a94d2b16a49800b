import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ClientStatusResponse } from "@xdstp/protos/status";
import { fieldsOf } from "./server-facts.ts";

/** The client feature that requests an explanation. It is also the key of the question in `node.metadata`, and the `client_scope` of the answer. */
export const EXPLAIN = "xdstp.status.explain";

/** An explanation that a server has sent. All of its texts are untrusted. */
export interface ToldExplanation {
  /** The whole answer, for programs. */
  readonly json: JsonObject;
  readonly text: string;
  readonly streams: readonly JsonObject[];
  /** The ids of connected nodes, if the node of the question is not connected. */
  readonly nodes: readonly string[];
  /** Names of the type, if the name of the question does not exist. */
  readonly names: readonly string[];
}

/** Reads the explanation in an answer. Returns `undefined` if the server does not explain. */
export function toldExplanation({
  config,
}: Pick<ClientStatusResponse, "config">): ToldExplanation | undefined {
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

/** Returns a value that is an object, else an empty object. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isObject(value) ? value : {};
}

/** Returns a value that is a string, else an empty string. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
