import {
  type Committed,
  type Held,
  type Interest,
  type Rejection,
  type ResourceSink,
  type Scope,
  type Transaction,
  type XdsError,
} from "@xdstp/core";
import { nameKey } from "@xdstp/uri";

import type { FollowedName } from "./followed-name.ts";

/** The subscribed names of a client, as the sink of its feed. */
export class FollowedNames implements ResourceSink {
  readonly #names = new Map<string, FollowedName>();
  #revision = 0;
  /** The reason why the server cannot be reached. */
  outage: XdsError | undefined;

  add(followed: FollowedName): void {
    this.#names.set(keyOf(followed.typeUrl, followed.name), followed);
  }

  delete({ typeUrl, name }: FollowedName): void {
    this.#names.delete(keyOf(typeUrl, name));
  }

  /** Notes that the stream is open, so what the server has sent is current. */
  confirm(): void {
    for (const followed of this.#names.values()) followed.confirm();
  }

  commit({ put = [], remove = [], refresh = [] }: Transaction): Committed {
    const rejected: Rejection[] = [];
    for (const { typeUrl, resource } of put) {
      const { name } = resource;
      const error = this.#find(typeUrl, name)?.put(resource);
      if (error !== undefined) rejected.push({ typeUrl, name, error });
    }
    for (const { typeUrl, name, error } of remove) this.#find(typeUrl, name)?.remove(error);
    for (const { typeUrl, name, expireMs } of refresh) this.#find(typeUrl, name)?.refresh(expireMs);
    return { revision: ++this.#revision, rejected };
  }

  *held(typeUrl: string, interest?: Interest): Iterable<Held> {
    const all =
      interest === undefined ? this.#names.values() : [this.#find(typeUrl, interest.name)];
    for (const followed of all)
      if (followed?.accepted !== undefined && followed.typeUrl === typeUrl)
        yield { name: followed.name, version: followed.accepted };
  }

  unavailable({ typeUrl, interest }: Scope, error: XdsError | undefined): void {
    if (typeUrl !== undefined && interest !== undefined) {
      this.#find(typeUrl, interest.name)?.fail(error);
      return;
    }
    this.outage = error;
    for (const followed of this.#names.values()) {
      // The end of an outage ends the errors of single names too; the feed reports them again.
      if (error === undefined) followed.fail(undefined);
      else followed.changed();
    }
  }

  #find(typeUrl: string, name: string): FollowedName | undefined {
    return this.#names.get(keyOf(typeUrl, name));
  }
}

function keyOf(typeUrl: string, name: string): string {
  return `${typeUrl} ${nameKey(name)}`;
}
