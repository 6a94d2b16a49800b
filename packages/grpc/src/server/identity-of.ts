import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { PeerIdentity } from "@xdstp/core";

/** Returns the identity in a certificate. The caller has verified the certificate. */
export function identityOf(
  certificate: Pick<X509Certificate, "subject" | "subjectAltName" | "fingerprint256">,
): PeerIdentity {
  const names = alternativeNames(certificate.subjectAltName ?? "");
  return {
    uris: names.filter(([kind]) => kind === "URI").map(([, value]) => value),
    dnsNames: names.filter(([kind]) => kind === "DNS").map(([, value]) => value),
    subject: certificate.subject,
    fingerprint: certificate.fingerprint256,
  };
}

/**
 * Returns the identity in a valid certificate. An invalid certificate counts as none, even if
 * certificates are optional (CVE-2026-101916).
 */
export function verifiedIdentity(socket: TLSSocket): PeerIdentity | undefined {
  const certificate =
    (socket.authorized as boolean | undefined) === true
      ? socket.getPeerX509Certificate()
      : undefined;
  return certificate === undefined ? undefined : identityOf(certificate);
}

/**
 * Returns the key by which a peer is counted: the names in its certificate, or else its address. It
 * is the key of the limit of open calls, and of other limits per peer (S-LIM-1).
 */
export function principalOf(identity: PeerIdentity | undefined, address: string): string {
  if (identity === undefined) return address;
  return (
    [...identity.uris, ...identity.dnsNames].join(" ") || identity.subject || identity.fingerprint
  );
}

const oneName = /(?:^|, )([\w ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?=$|, )/y;

/**
 * Parses Node's text form of alternative names: `URI:a, DNS:b`, with unusual values as JSON
 * strings.
 * A text that does not match this form completely is not an identity. Neither is a value with a
 * space, a control character or a non-ASCII byte: certificates are forged with names that end at a
 * NUL for one reader and continue for another (CVE-2026-47778).
 */
function alternativeNames(text: string): readonly (readonly [kind: string, value: string])[] {
  const names: (readonly [string, string])[] = [];
  oneName.lastIndex = 0;
  while (oneName.lastIndex < text.length) {
    const match = oneName.exec(text);
    if (match === null) return [];
    const [, kind = "", raw = ""] = match;
    const value = raw.startsWith('"') ? unquote(raw) : raw;
    if (value !== undefined && /^[\x21-\x7e]+$/.test(value)) names.push([kind, value]);
  }
  return names;
}

function unquote(raw: string): string | undefined {
  try {
    return JSON.parse(raw) as string;
  } catch {
    return undefined;
  }
}

/** Returns the address and port of a socket, for display. */
export function peerName(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}): string {
  const { remoteAddress = "unknown", remotePort = 0, remoteFamily } = socket;
  return `${remoteFamily === "IPv6" ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
