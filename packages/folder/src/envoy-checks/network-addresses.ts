import { isIP } from "node:net";
import { quote } from "../folder-problem.ts";
import { type EnvoyFinding, finding, type Oneof } from "./envoy-check.ts";

/** A generated `SocketAddress`. */
export interface SocketAddress {
  readonly address: string;
  readonly resolverName: string;
  readonly portSpecifier: Oneof<number | string>;
}

/** Resolvers that resolve nothing: an address is that of IP already. */
const plainResolvers: ReadonlySet<string> = new Set(["", "envoy.ip"]);

/** Finds the faults of a socket address that is used without DNS. `who` needs such an address. */
export function* addressFaults(
  { address, resolverName, portSpecifier }: SocketAddress,
  at: EnvoyFinding["at"],
  who: string,
  hint?: string,
): Iterable<EnvoyFinding> {
  if (!plainResolvers.has(resolverName)) return;
  if (address !== "" && isIP(address) === 0)
    yield finding(
      [...at, "address"],
      `${quote(address)} is not an IP address, which ${who} needs`,
      hint,
    );
  if (portSpecifier.case === "namedPort")
    yield finding(
      [...at, "named_port"],
      `is not a number, which ${who} needs`,
      "set port_value instead",
    );
}

/** A generated `CidrRange`. */
export interface Network {
  readonly addressPrefix: string;
  readonly prefixLen?: number;
}

/** A network without the bits behind its length, so that equal networks are equal texts. */
export function canonicalNetwork({ addressPrefix, prefixLen = 0 }: Network): string {
  const family = isIP(addressPrefix);
  if (family === 0) return `${addressPrefix}/${prefixLen}`;
  const size = family === 4 ? 32 : 128;
  const length = Math.min(prefixLen, size);
  const rest = BigInt(size - length);
  const bits = (bitsOf(addressPrefix, family) >> rest) << rest;
  return `${addressOf(bits, family)}/${length}`;
}

/** An address of IP in one form of several; another text as it is. */
export function canonicalAddress(address: string): string {
  const family = isIP(address);
  return family === 0 ? address : addressOf(bitsOf(address, family), family);
}

function bitsOf(address: string, family: number): bigint {
  if (family === 4)
    return address.split(".").reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
  // The URL parser writes an IPv4 address at the end as two groups.
  const [head = "", tail] = new URL(`http://[${address.replace(/%.*/, "")}]`).hostname
    .slice(1, -1)
    .split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return [...before, ...zeros, ...after].reduce(
    (bits, group) => (bits << 16n) | BigInt(`0x${group}`),
    0n,
  );
}

function addressOf(bits: bigint, family: number): string {
  const [groups, width] = family === 4 ? [4, 8n] : [8, 16n];
  return Array.from({ length: groups }, (_, index) => {
    const group = (bits >> (BigInt(groups - 1 - index) * width)) & ((1n << width) - 1n);
    return group.toString(family === 4 ? 10 : 16);
  }).join(family === 4 ? "." : ":");
}
