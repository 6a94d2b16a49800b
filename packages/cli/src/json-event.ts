import { XdsError } from "@xdstp/core";
import type { NodeInfo, StreamInfo } from "@xdstp/core/server";
import type { CliEvent } from "./cli-event.ts";
import { escapeJson } from "./escape-text.ts";

/** One event as one line of JSON: `time` in ISO 8601, `from`, `event` (its kind), and what the event holds. Control characters are escaped (S-ACK-15). */
export function jsonEvent({ from, event }: CliEvent, time: number): string {
  const { kind, ...rest } = event;
  const fields = Object.entries(rest).map(([name, value]) => [name, plain(name, value)] as const);
  return escapeJson(JSON.stringify({ time: new Date(time).toISOString(), from, event: kind, ...Object.fromEntries(fields) }));
}

function plain(name: string, value: unknown): unknown {
  if (name === "stream") return plainStream(value as StreamInfo);
  if (name === "node") return plainNode(value as NodeInfo | undefined);
  if (value instanceof XdsError) return { code: value.code, message: value.text };
  return value instanceof Error ? { message: value.message } : value;
}

/** A stream is a live object: only what identifies it is told. */
function plainStream({ id, variant, peer, service, node }: StreamInfo): object {
  return { id, variant, peer, ...(service !== undefined && { service }), ...(node !== undefined && { node: plainNode(node) }) };
}

/** Features would make each line long. */
function plainNode(node: NodeInfo | undefined): object | undefined {
  if (node === undefined) return undefined;
  const { id, cluster, userAgentName, userAgentVersion, locality } = node;
  return { id, cluster, userAgentName, userAgentVersion, locality };
}
