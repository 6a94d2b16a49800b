import { StatusCode, type PeerIdentity, type Status } from "@xdstp/core";

/**
 * The reason why the server ended a connection that its peer still used. `protocol-error`: the
 * client violates HTTP/2, or keeps resetting calls (RFC 9113 section 5.4.1).
 * `no-content`: it keeps sending frames without content, or headers that HTTP/2 rejects.
 * `rejected-calls`: it keeps opening calls that cannot be served, or that violate the protocol of
 * the handler.
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

/** The reason why the server ended or rejected a call that its peer still used. */
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

/**
 * Returns true if the peer has sent something that no server can serve, so that a retry does not
 * help.
 */
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
 * Returns true if a call ended with a status that means that the peer violated the protocol or
 * called an unknown method.
 * UNAVAILABLE, RESOURCE_EXHAUSTED and PERMISSION_DENIED do not count: they depend on the state, the
 * limits and the policy of the server.
 */
export function isPeerFaultCode(code: number): boolean {
  return code === StatusCode.INVALID_ARGUMENT || code === StatusCode.UNIMPLEMENTED;
}

/**
 * An event on the wire, for logs and metrics. `peer` is address and port. `detail` is the code of
 * an OpenSSL error, or the text of HTTP/2 about a `protocol-error`.
 */
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
  /**
   * A bug in a handler, route or listener, or an error of the operating system. The peer received a
   * fixed text at most.
   */
  | { readonly kind: "fault"; readonly where: string; readonly error: unknown };
