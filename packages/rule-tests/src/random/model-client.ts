import type { MemoryStream } from "@xdstp/testing";
import { globOf, isGlob, nameKey } from "@xdstp/uri";

export interface ModelClientOptions {
  /** Rejects a resource by its version. */
  readonly rejects?: (version: string) => boolean;
  /** Applies nothing of a response that it rejects, as Envoy does for what does not decode. */
  readonly wholeResponses?: boolean;
}

/** A client that follows the protocol, driven step by step. */
export interface ModelClient {
  readonly stream: MemoryStream;
  /** Returns the versions of the resources of a type that it has and subscribes to, by name. */
  readonly held: (typeUrl: string) => ReadonlyMap<string, string>;
  /** Returns true if a subscription covers the name. */
  readonly covers: (typeUrl: string, name: string) => boolean;
  change(typeUrl: string, add: readonly string[], drop: readonly string[]): void;
  /** Reads one response, if there is one. */
  receive(): boolean;
  /** Answers everything that was read, or what was read of one type. */
  answer(typeUrl?: string): boolean;
  /** Responses that were read and not answered. */
  readonly unanswered: number;
  /** Their types. */
  readonly unansweredTypes: readonly string[];
  /** Things that no server may do, as they happened. */
  readonly faults: readonly string[];
}

/** Returns true if one of these subscriptions covers a name. */
export function isCoveredBy(subscriptions: ReadonlySet<string>, name: string): boolean {
  const glob = globOf(name);
  for (const subscription of subscriptions) {
    if (subscription === "*" || nameKey(subscription) === nameKey(name)) return true;
    if (glob !== undefined && isGlob(subscription) && nameKey(subscription) === glob) return true;
  }
  return false;
}
