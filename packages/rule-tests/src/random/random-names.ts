import type { Random } from "./random.ts";

const typeName = (typeUrl: string): string => typeUrl.slice(typeUrl.indexOf("/") + 1);

/** A name as it is stored: opaque or xdstp. */
export function stored(random: Random, typeUrl: string): string {
  return random.below(2) === 0
    ? `c${random.below(8)}`
    : `xdstp://a/${typeName(typeUrl)}/${random.pick(["p", "q"])}/${random.below(6)}`;
}

/** A name as it is asked for: also in another spelling, a glob, the wildcard. */
export function wanted(random: Random, typeUrl: string): string {
  switch (random.below(8)) {
    case 0:
      return "*";
    case 1:
      return `xdstp://a/${typeName(typeUrl)}/p/*`;
    case 2:
      return `xdstp://a/${typeName(typeUrl)}/q/%2A`;
    case 3:
      return `xdstp://a/${typeName(typeUrl)}/p/%3${random.below(6)}?`;
    default:
      return stored(random, typeUrl);
  }
}
