import type { Side } from "@xdstp/testing";

import type { TimedStep } from "./run-scenario.ts";

/** One resource that is put, or, without a text, removed. */
export interface Change {
  readonly typeUrl: string;
  readonly name: string;
  readonly text?: string;
  readonly ttlMs?: number;
  readonly alias?: string;
}

/** An action on a world. It is valid in every state of the world, although it may have no effect there. So any part of a history is a history. */
export type Deed =
  | { readonly kind: "commit"; readonly origin: number; readonly changes: readonly Change[] }
  | {
      readonly kind: "watch" | "unwatch";
      readonly client: number;
      readonly typeUrl: string;
      readonly name: string;
    }
  | { readonly kind: "come" | "leave"; readonly client: number }
  | { readonly kind: "start"; readonly origin: number }
  | { readonly kind: "stop"; readonly origin: number; readonly crash: boolean }
  | { readonly kind: "cut"; readonly client: number; readonly told: "both" | "neither" | Side }
  | { readonly kind: "stall"; readonly client: number; readonly ms: number }
  | { readonly kind: "slow"; readonly client: number; readonly side: Side; readonly ms: number }
  | { readonly kind: "duplicate"; readonly client: number }
  /** The faults end, and rejected resources are replaced by good ones. Afterwards every client must have exactly the resources of its server. */
  | { readonly kind: "rest" };

/** A deed at its time. */
export type Action = TimedStep<Deed>;

/** Returns a line for people. */
export function describeDeed(deed: Deed): string {
  switch (deed.kind) {
    case "commit":
      return `server ${deed.origin}: ${deed.changes.map(describeChange).join("; ")}`;
    case "watch":
    case "unwatch":
      return `client ${deed.client} ${deed.kind}es ${deed.name} (${shortType(deed.typeUrl)})`;
    case "come":
    case "leave":
      return `client ${deed.client} ${deed.kind}s`;
    case "start":
      return `server ${deed.origin} starts from its store`;
    case "stop":
      return `server ${deed.origin} ${deed.crash ? "crashes" : "stops"}`;
    case "cut":
      return `the connection of client ${deed.client} is cut, of which ${deed.told} ${deed.told === "both" ? "are" : "is"} told`;
    case "stall":
      return `the connection of client ${deed.client} stalls for ${deed.ms} ms`;
    case "slow":
      return `the ${deed.side} reads slowly on the connection of client ${deed.client}: ${deed.ms} ms more for each message`;
    case "duplicate":
      return `client ${deed.client} is cut off, and comes back with a call that arrives twice`;
    case "rest":
      return "rest: no more faults, what is bad is mended";
  }
}

function describeChange({ typeUrl, name, text, ttlMs, alias }: Change): string {
  if (text === undefined) return `remove ${shortType(typeUrl)} ${name}`;
  return `put ${shortType(typeUrl)} ${name} = ${text}${ttlMs === undefined ? "" : `, TTL ${ttlMs} ms`}${alias === undefined ? "" : `, alias ${alias}`}`;
}

function shortType(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf(".") + 1);
}
