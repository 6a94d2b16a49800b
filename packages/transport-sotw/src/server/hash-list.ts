import { type Interest, interestKey } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import { hashBytes } from "@xdstp/protocol/server";

const RESOURCE_NAMES = 3;

/** The hash that the name list of a request has on the wire, so that an ACK that repeats it need not be decoded. */
export function hashList(names: readonly string[]): number {
  const bytes = concatBytes(names.map((name) => lengthDelimited(RESOURCE_NAMES, name)));
  return hashBytes(bytes, 0, bytes.length);
}

/** The hash of a wanted set; without dynamic parameters that of its name list. */
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
