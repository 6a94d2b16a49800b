/** Address and port of a socket, for people. */
export function peerName(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly remoteFamily?: string | undefined;
}): string {
  const { remoteAddress = "unknown", remotePort = 0, remoteFamily } = socket;
  return `${remoteFamily === "IPv6" ? `[${remoteAddress}]` : remoteAddress}:${remotePort}`;
}
