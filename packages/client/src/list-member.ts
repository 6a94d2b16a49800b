import { XdsError } from "@xdstp/core";
import type { HeldState, ListMember as FollowedMember } from "@xdstp/federation";

import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";

/** One member of a list, as it was when it was read. */
export interface ListMember<T> {
  /** The same whether the list has it inline or says where it is (C-LIST-8). Empty: an inline entry without a name, which is known by its version. */
  readonly name: string;
  /** `pending`: nothing is known of it yet; `held`; `missing`: it does not exist; `failed`: it was rejected, may not be seen, or no server is reachable. */
  readonly state: HeldState;
  /** As the server gave it. Empty where there is none. */
  readonly version: string;
  /** Only while `held`. */
  readonly value?: T;
  /** Next to a value: it stays valid, and may be old. Otherwise why there is none. */
  readonly error?: XdsError;
}

/** A member as a program sees it. A member without a check that cannot be decoded has failed. */
export function listMember<T>(
  hub: Hub,
  decoder: Decoder<T>,
  { name, state, version, resource, error }: FollowedMember,
): ListMember<T> {
  const told = error === undefined ? {} : { error: hub.tell(error) };
  try {
    return {
      name,
      state,
      version,
      ...(resource !== undefined && { value: decoder.read(resource) }),
      ...told,
    };
  } catch (failure) {
    return { name, state: "failed", version: "", error: hub.tell(XdsError.from(failure)) };
  }
}
