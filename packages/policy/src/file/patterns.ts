import { BlockList, isIP } from "node:net";
import { parseName, printName } from "@xdstp/uri";

/**
 * Endings that complete a beginning to a name: every valid beginning becomes a name with one of
 * them.
 */
const endings = [
  "",
  "x",
  "/x",
  "T/x",
  "/T/x",
  "a/T/x",
  "/a/T/x",
  "//a/T/x",
  "=v",
  "k=v",
  "~=v",
  "20",
  "0",
  "%80",
  "%80%80",
] as const;

/**
 * A pattern that matches names; or, if it matches none, the pattern that was probably meant, if one
 * is known.
 */
type NamePattern = { readonly pattern: string } | { readonly meant: string | undefined };

/**
 * Returns a pattern for a name in canonical spelling or, with `*` at the end, for the beginning of
 * such names. Names are compared in canonical spelling, so a beginning that no canonical name has
 * matches nothing. Opaque names are used as they are (N-40).
 */
export function namePattern(text: string): NamePattern {
  if (!text.startsWith("xdstp:")) return { pattern: text };
  if (!text.endsWith("*")) {
    const canonical = canonicalOf(text);
    return canonical === undefined ? { meant: undefined } : { pattern: canonical };
  }
  const start = text.slice(0, -1);
  const complete = endings.flatMap((ending) => {
    const canonical = canonicalOf(start + ending);
    return canonical === undefined ? [] : [{ canonical, ending }];
  });
  if (complete.some(({ canonical }) => canonical.startsWith(start))) return { pattern: text };
  const meant = complete.find(
    ({ canonical, ending }) =>
      canonical.endsWith(ending) &&
      canonical.length - ending.length <= start.length &&
      !start.includes("&"),
  );
  return {
    meant: meant && `${meant.canonical.slice(0, meant.canonical.length - meant.ending.length)}*`,
  };
}

function canonicalOf(text: string): string | undefined {
  const parsed = parseName(text);
  return parsed.ok ? printName(parsed.value) : undefined;
}

/** A range of IP addresses. */
export interface AddressRange {
  /** The number of bits of an address that it fixes: the more bits, the smaller the range. */
  readonly bits: number;
  /**
   * Returns true if a peer is in the range, by its address and port as a server reports them:
   * `192.0.2.1:5000`, `[2001:db8::1]:5000`.
   */
  has(peer: string): boolean;
}

const lengths = { ipv4: 32, ipv6: 128 } as const;

/** Reads `192.0.2.0/24`, `2001:db8::/32`, or one address. undefined: the text is none of these. */
export function addressRange(text: string): AddressRange | undefined {
  const [, address = "", digits] = /^([\d.]+|[\da-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = familyOf(address);
  if (family === undefined) return undefined;
  const bits = digits === undefined ? lengths[family] : Number(digits);
  if (bits > lengths[family]) return undefined;
  const list = new BlockList();
  list.addSubnet(address, bits, family);
  return {
    bits,
    has(peer) {
      const host = hostOf(peer);
      const known = familyOf(host);
      // An IPv4 address in the form of IPv6, such as ::ffff:192.0.2.1, is also in the ranges of
      // IPv4.
      return known !== undefined && list.check(host, known);
    },
  };
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? "ipv4" : "ipv6";
}

/** Returns the host of an address without port, brackets and the zone of a link-local address. */
function hostOf(peer: string): string {
  const [, bracketed, plain = ""] =
    /^(?:\[([^\]%]*)(?:%[^\]]*)?\]|([^:]*))(?::\d+)?$/.exec(peer) ?? [];
  return bracketed ?? plain;
}
