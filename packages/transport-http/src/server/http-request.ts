import type { PeerIdentity, ResourceSource } from "@xdstp/core";

/** The sender of a request. */
export interface HttpCaller {
  /** The address of the client, `host:port`; behind a proxy, that of the proxy. */
  readonly peer: string;
  /** The identity of the client, as its connection has verified it. Absent: it is unknown. */
  readonly identity?: PeerIdentity;
  /** The path with its query, as it was received. */
  readonly target: string;
  /** Returns a header by its name in lower case. */
  header(name: string): string | undefined;
}

/** The resources that one caller may see. */
export interface HttpView {
  /** The resources that the caller may see. */
  readonly source: ResourceSource;
  /**
   * The key of the policy of the caller. With a key, caches that several clients share do not store
   * the answers. Absent: every caller may see the same.
   */
  readonly key?: string;
  /** Aborts when the caller may no longer see anything: requests that wait are rejected, and event streams end. Absent: it never does. */
  readonly revoked?: AbortSignal;
  /**
   * Called once when `source` is no longer needed for this request: when it has ended, or up to
   * `keepMs` later, since a name stays followed until then. Absent: nothing has to be released.
   */
  readonly release?: () => void;
}

/** A request, as an HTTP server has received it. */
export interface HttpRequest extends HttpCaller {
  /** The method of HTTP, in upper case. */
  readonly method: string;
  /** The host of the request, with its port. */
  readonly host: string;
  /** Aborts when the client has disconnected, or the answer was sent. */
  readonly signal: AbortSignal;
}

/** An answer for an HTTP server. */
export interface HttpAnswer {
  /** The status code of HTTP. */
  readonly status: number;
  /** Headers with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The body: the same bytes for all clients in the same state, or the parts of an event stream,
   * each created when it is read. `undefined`: none.
   */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
}
