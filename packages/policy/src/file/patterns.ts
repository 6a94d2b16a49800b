import { BlockList, isIP } from "node:net";
import { parseName, printName } from "@xdstp/uri";

/** What makes a name of any beginning of one. */
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

/** A pattern that fits names, or one that fits none and, where it is known, what was meant. */
type NamePattern = { readonly pattern: string } | { readonly meant: string | undefined };

/**
 * A name in canonical spelling, or with `*` at its end how such names begin. Names are compared in that spelling, so a beginning that no canonical
 * name has fits nothing. Opaque names are as they are (N-40).
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
  /** How many bits of an address it fixes: the more, the smaller it is. */
  readonly bits: number;
  /** Whether a peer is in it, by its address and port as a server shows it: `192.0.2.1:5000`, `[2001:db8::1]:5000`. */
  has(peer: string): boolean;
}

const lengths = { ipv4: 32, ipv6: 128 } as const;

/** Reads `192.0.2.0/24`, `2001:db8::/32`, or one address. undefined: it is neither. */
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
      // An IPv4 address that came over IPv6, ::ffff:192.0.2.1, is in the ranges of IPv4 as well.
      return known !== undefined && list.check(host, known);
    },
  };
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address);
  if (version === 0) return undefined;
  return version === 4 ? "ipv4" : "ipv6";
}

/** Without the port, brackets and the zone of a link-local address. */
function hostOf(peer: string): string {
  const [, bracketed, plain = ""] =
    /^(?:\[([^\]%]*)(?:%[^\]]*)?\]|([^:]*))(?::\d+)?$/.exec(peer) ?? [];
  return bracketed ?? plain;
}
