import type { X509Certificate } from "node:crypto";
import type { PeerIdentity } from "@xdstp/core";

/** What a verified certificate says of its holder. The caller has checked that it is verified. */
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

/** By which a peer is counted: its certified names, or where there are none its address. The server counts open calls by it, and its callers what they bound per peer (S-LIM-1). */
export function principalOf(identity: PeerIdentity | undefined, address: string): string {
  if (identity === undefined) return address;
  return (
    [...identity.uris, ...identity.dnsNames].join(" ") || identity.subject || identity.fingerprint
  );
}

const oneName = /(?:^|, )([\w ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?=$|, )/y;

/**
 * Node's text form of alternative names: `URI:a, DNS:b`, values with anything unusual in them as JSON strings.
 * Text that is not wholly of this form is not an identity, and neither is a value with a space, a control character or a byte beyond ASCII:
 * a name that ends at a NUL for one reader and goes on for another is how certificates are forged (CVE-2026-47778).
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

/** Address and port of a socket, for people. */
export function peerName(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}): string {
  const { remoteAddress = "unknown", remotePort = 0, remoteFamily } = socket;
  return `${remoteFamily === "IPv6" ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
