import { principalOf as principalOfNames, type CallPeer } from "@xdstp/grpc/server";

/** By which a caller is counted: its certified names, or where there are none its address without the port; undefined is the program itself. */
export function principalOf(peer: CallPeer | undefined): string {
  return peer === undefined
    ? ""
    : principalOfNames(peer.identity, peer.address.replace(/:\d+$/, ""));
}
