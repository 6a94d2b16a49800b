import { shortNameOf } from "@xdstp/resource-types";
import type { ServerEvent } from "@xdstp/server";

/** One event of a server as a line of a message trace: when, which stream, which type, and what. */
export function traceLine(event: ServerEvent): string {
  const { kind } = event;
  const stream = "stream" in event ? `#${event.stream.id}` : "";
  const type = "typeUrl" in event ? (shortNameOf(event.typeUrl) ?? event.typeUrl) : "";
  return [new Date().toISOString().slice(11, 23), stream, kind, type, detailOf(event)]
    .filter((part) => part !== "")
    .join(" ");
}

function detailOf(event: ServerEvent): string {
  switch (event.kind) {
    case "subscribe":
      return [
        ...event.added.map((name) => `+${name}`),
        ...event.dropped.map((name) => `-${name}`),
      ].join(" ");
    case "push":
      return `${event.nonce}: ${event.resources} resources, ${event.removed} removed`;
    case "heartbeat":
      return `${event.nonce}: ${event.resources} resources`;
    case "ack":
      return event.nonce;
    case "nack":
      return `${event.nonce}: ${event.error.message}`;
    case "order-expired":
      return `${event.what}: ${event.typeUrls.map((typeUrl) => shortNameOf(typeUrl) ?? typeUrl).join()}`;
    case "disconnect":
      return `${event.code} ${event.message}`;
    default:
      return "";
  }
}
