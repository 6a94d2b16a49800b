import { interestKey, type Interest } from "@xdstp/core";
import { globOf, nameKey } from "@xdstp/uri";

import type { Ask } from "./ask.ts";

const NONE: readonly never[] = [];

/** The asks of a route, or other subscriptions, found without a scan of the others. */
export class AskIndex<
  One extends Pick<Ask, "typeUrl" | "interest" | "key"> = Ask,
> implements Iterable<One> {
  /** By type and key; several parameter sets of one name (TP2) share a key. */
  readonly #asks = new Map<string, Map<string, readonly One[]>>();

  *[Symbol.iterator](): Iterator<One> {
    for (const asks of this.#asks.values()) for (const same of asks.values()) yield* same;
  }

  add(ask: One): void {
    const asks = this.#asks.get(ask.typeUrl) ?? new Map<string, readonly One[]>();
    this.#asks.set(ask.typeUrl, asks.set(ask.key, [...(asks.get(ask.key) ?? NONE), ask]));
  }

  delete(ask: One): void {
    const asks = this.#asks.get(ask.typeUrl);
    const left = this.of(ask.typeUrl, ask.key).filter((other) => other !== ask);
    if (left.length > 0) asks?.set(ask.key, left);
    else asks?.delete(ask.key);
    if (asks?.size === 0) this.#asks.delete(ask.typeUrl);
  }

  find(typeUrl: string, interest: Interest, key: string): One | undefined {
    const asks = this.of(typeUrl, key);
    if (
      asks.length === 1 &&
      interest.parameters === undefined &&
      asks[0]?.interest.parameters === undefined
    )
      return asks[0];
    const id = interestKey(interest, key);
    return asks.find((ask) => interestKey(ask.interest, key) === id);
  }

  /** Those of one name, whatever the parameters. */
  of(typeUrl: string, key: string): readonly One[] {
    return this.#asks.get(typeUrl)?.get(key) ?? NONE;
  }

  /** Those of the one glob that has a name in it. */
  globsOf(typeUrl: string, key: string): readonly One[] {
    const glob = key.startsWith("xdstp:") ? globOf(key) : undefined;
    return glob === undefined ? NONE : this.of(typeUrl, glob);
  }

  /** What covers a name: itself, its aliases, its glob, the wildcard. */
  covering(typeUrl: string, key: string, aliases: readonly string[] = NONE): readonly One[] {
    return [
      ...this.of(typeUrl, key),
      ...aliases.flatMap((alias) => this.of(typeUrl, nameKey(alias))),
      ...this.globsOf(typeUrl, key),
      ...this.of(typeUrl, "*"),
    ];
  }
}
