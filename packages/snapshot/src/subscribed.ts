import { type Interest, InterestMap, type XdsError } from "@xdstp/core";
import { authorityOf, globOf, isGlob, nameKey } from "@xdstp/uri";

import type { SnapshotRecord } from "./record.ts";

/** A subscribed interest and its state. */
export interface SubscribedInterest {
  readonly typeUrl: string;
  readonly interest: Interest;
  readonly key: string;
  readonly isCollection: boolean;
  /** `null`: the name is opaque. */
  readonly authority: string | null;
  /** True if upstream has answered. */
  answered: boolean;
  /**
   * When upstream sent the restored resources, in milliseconds since the epoch. `undefined`: none
   * are restored.
   */
  restoredAt: number | undefined;
  /** True for a collection whose members could not all be restored. */
  isPartial: boolean;
  /** The transient error of upstream. */
  failing: XdsError | undefined;
}

/** All subscribed interests, by type and name. */
export class SubscribedInterests extends InterestMap<SubscribedInterest> {
  add(typeUrl: string, interest: Interest): SubscribedInterest {
    const key = nameKey(interest.name);
    const isXdstp = interest.name.startsWith("xdstp:");
    const isCollection = interest.name === "*" || (isXdstp && isGlob(interest.name));
    const subscribed: SubscribedInterest = {
      typeUrl,
      interest,
      key,
      isCollection,
      authority: (isXdstp ? authorityOf(interest.name) : undefined) ?? null,
      answered: false,
      restoredAt: undefined,
      isPartial: false,
      failing: undefined,
    };
    this.set(typeUrl, interest, key, subscribed);
    return subscribed;
  }

  find(typeUrl: string, interest: Interest): SubscribedInterest | undefined {
    return this.get(typeUrl, interest, nameKey(interest.name));
  }

  /** Returns true if a subscribed interest covers this record. */
  covers(
    { typeUrl, key, name, aliases }: SnapshotRecord,
    inWildcard: (name: string) => boolean,
  ): boolean {
    return (
      [key, globOf(key), ...aliases.map(nameKey)].some((one) => this.hasName(typeUrl, one)) ||
      (this.hasName(typeUrl, "*") && inWildcard(name))
    );
  }
}
