import { nameKey } from "@xdstp/uri";
import { isCoveredBy } from "./model-client.ts";

/** The state of the model clients of both variants. */
export interface ModelState {
  readonly faults: string[];
  readonly subscribed: (typeUrl: string) => Set<string>;
  readonly held: (typeUrl: string) => Map<string, string>;
  readonly covers: (typeUrl: string, name: string) => boolean;
  /** Changes the wanted set and drops what is not covered any more. */
  change(typeUrl: string, add: readonly string[], drop: readonly string[]): void;
  /** Notes what no response may do. */
  check(
    response: { readonly typeUrl: string; readonly nonce: string },
    names: readonly string[],
    isOpen: boolean,
  ): void;
}

/** An empty client. */
export function createModelState(): ModelState {
  const subscriptions = new Map<string, Set<string>>();
  const state = new Map<string, Map<string, string>>();
  const faults: string[] = [];
  let lastNonce = 0;
  const subscribed = (typeUrl: string): Set<string> =>
    entryOf(subscriptions, typeUrl, () => new Set<string>());
  const held = (typeUrl: string): Map<string, string> =>
    entryOf(state, typeUrl, () => new Map<string, string>());
  const covers = (typeUrl: string, name: string): boolean => isCoveredBy(subscribed(typeUrl), name);
  return {
    faults,
    subscribed,
    held,
    covers,
    change(typeUrl, add, drop) {
      for (const name of add) subscribed(typeUrl).add(nameKey(name));
      for (const name of drop) subscribed(typeUrl).delete(nameKey(name));
      for (const name of [...held(typeUrl).keys()])
        if (!covers(typeUrl, name)) held(typeUrl).delete(name);
    },
    check({ typeUrl, nonce }, names, isOpen) {
      const keys = names.map(nameKey);
      if (new Set(keys).size !== keys.length) faults.push(`S-DUP-1: ${keys.join(" ")}`);
      if (Number(nonce) <= lastNonce) faults.push(`S-NONCE-1: ${nonce} after ${lastNonce}`);
      if (isOpen) faults.push(`S-ACK-16: two responses of ${typeUrl} in flight`);
      lastNonce = Number(nonce);
    },
  };
}

function entryOf<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
