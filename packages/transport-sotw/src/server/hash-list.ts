import { type Interest, interestKey } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { hashBytes } from "@xdstp/protocol/server";

const RESOURCE_NAMES = 3;

/**
 * Returns the hash of the encoded name list of a request, so that an ACK that repeats the list need
 * not be decoded.
 */
export function hashList(names: readonly string[]): number {
  const bytes = concatBytes(names.map((name) => lengthDelimited(RESOURCE_NAMES, name)));
  return hashBytes(bytes, 0, bytes.length);
}

/**
 * Returns the hash of all subscriptions of a request; without dynamic parameters, that of its name
 * list.
 */
export function hashWanted({
  names,
  located,
}: {
  readonly names: readonly string[];
  readonly located: readonly Interest[];
}): number {
  return hashList(
    located.length === 0
      ? names
      : [...names, "", ...located.map((interest) => interestKey(interest, interest.name))],
  );
}
