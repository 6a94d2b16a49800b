import { BlockList, isIP } from "node:net";

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
