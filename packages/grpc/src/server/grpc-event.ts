import { StatusCode, type PeerIdentity, type Status } from "@xdstp/core";

/**
 * Why the server ended a connection that its peer wanted to keep. `protocol-error`: its client does not keep to HTTP/2, or goes on resetting calls (RFC 9113 section 5.4.1).
 * `no-content`: it goes on sending frames that carry nothing, or headers that HTTP/2 rejects. `rejected-calls`: it goes on opening calls that cannot be served, or that break the protocol of the handler.
 */
export type ConnectionCut =
  | "too-many-connections"
  | "tls-handshake"
  | "not-http2"
  | "protocol-error"
  | "no-certificate"
  | "silent"
  | "ping-flood"
  | "ping-timeout"
  | "no-content"
  | "rejected-calls"
  | "goaway-grace"
  | "age-grace"
  | "drain-grace";

/** Why the server ended or rejected a call that its peer wanted to keep. */
export type StreamCut =
  | "too-many-streams"
  | "too-many-calls"
  | "headers-too-large"
  | "not-canonical"
  | "bad-timeout"
  | "deadline"
  | "malformed"
  | "compressed"
  | "too-large"
  | "partial-bytes"
  | "slow-message"
  | "queued-bytes"
  | "not-reading"
  | "fault";

/** The peer has sent what no server can serve, so that trying again does not help. */
export function isPeerFault(reason: StreamCut): boolean {
  return peerFaults.has(reason);
}

const peerFaults: ReadonlySet<StreamCut> = new Set<StreamCut>([
  "headers-too-large",
  "not-canonical",
  "bad-timeout",
  "malformed",
  "compressed",
  "too-large",
]);

/**
 * Whether a call ended with a status that says that the peer broke the protocol or called a method that does not exist.
 * UNAVAILABLE, RESOURCE_EXHAUSTED and PERMISSION_DENIED do not: they depend on the state, the limits and the policy of the server.
 */
export function isPeerFaultCode(code: number): boolean {
  return code === StatusCode.INVALID_ARGUMENT || code === StatusCode.UNIMPLEMENTED;
}

/** What happens on the wire, for logs and metrics. `peer` is address and port; `detail` is the code of an error of OpenSSL, or what HTTP/2 says of a `protocol-error`. */
export type GrpcEvent =
  | { readonly kind: "connection-opened"; readonly peer: string; readonly identity?: PeerIdentity }
  | { readonly kind: "connection-closed"; readonly peer: string }
  | {
      readonly kind: "connection-cut";
      readonly peer: string;
      readonly reason: ConnectionCut;
      readonly detail?: string;
    }
  | { readonly kind: "stream-opened"; readonly peer: string; readonly path: string }
  | {
      readonly kind: "stream-closed";
      readonly peer: string;
      readonly path: string;
      readonly status: Status;
    }
  | {
      readonly kind: "stream-cut";
      readonly peer: string;
      readonly path: string;
      readonly reason: StreamCut;
      readonly status: Status;
    }
  /** A bug in what the server was given, or an error of the operating system. The peer saw a fixed text at most. */
  | { readonly kind: "fault"; readonly where: string; readonly error: unknown };
