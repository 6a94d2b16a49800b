import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { SourceConfig } from "@xdstp/bootstrap";
import type { XdsError, Resource } from "@xdstp/core";

/**
 * An async iterable of the newest state of what is watched. A slow reader never sees a state that a
 * newer one has replaced.
 * Use it in one loop only: two loops would share the updates, and the first to break would end
 * both.
 */
export interface Watch<Update> extends AsyncIterable<Update, undefined>, AsyncDisposable {
  /** The requested name, with the context parameters of the client. */
  readonly name: string;
  /**
   * Ends the watch: its loop ends, and no update is delivered and no call is made any more, not
   * even for updates that had already arrived. The last watch of a name ends its subscription
   * (C-SUB-10).
   */
  close(): void;
}

/** Options of a watch. */
export interface WatchOptions<T> extends NameOptions {
  /**
   * Checks a resource, in addition to decoding it. Returns `undefined` to accept it, or the reason
   * of the rejection as a text or an error; an exception rejects it too. A rejection is sent to the
   * server as a NACK with its text, and the previous state stays (C-ACK-5). Resources that were
   * cached before the watch began are checked too; a rejection of one of these is reported to this
   * watch only. It should return quickly, since it runs where responses are read.
   */
  readonly validate?: (value: T, resource: Resource) => string | Error | undefined;
  /** Ends the watch when it aborts: a loop throws the reason, and calls just end. */
  readonly signal?: AbortSignal;
}

/** The option of a watch, and of `read`, that makes a value always present. */
export interface DefaultOption<T> {
  /**
   * The value while the client has none, and the error says why: the resource does not exist or was
   * removed, it was rejected, access to it is denied, or no server can be reached or has answered
   * in time (`fetchMs`). Before that the watch waits for the server, so a program does not see the
   * default first and the real value a moment later. A cached value, also one from a snapshot on
   * disk, comes before the default. It is not validated. Default: such a state has no value.
   */
  readonly default: T;
}

/** A state with a value, of a watch with the option `default`. */
export type DefinedSnapshot<T> = Snapshot<T> & { readonly value: T };

/**
 * The two calls of gRPC (C-GRPC-8). The next call is made when the promise of the previous one has
 * settled. An exception in a call ends the watch and surfaces as an unhandled rejection.
 */
export interface WatchCalls<T> {
  /**
   * Receives a new value; or, without a value or with the option `default`, an error that says to
   * stop using the previous one.
   */
  onChanged?(snapshot: Snapshot<T>): void | Promise<void>;
  /**
   * Receives the reason why the cached resource may be out of date; it stays valid. `undefined`:
   * the reason no longer applies.
   */
  onAmbientError?(error: Snapshot<T>["error"]): void | Promise<void>;
}

/** The state of a name as the client knows it (C-GRPC-8). */
export interface Snapshot<T> {
  /** The requested name. */
  readonly name: string;
  /** The resource. Absent: there is none, and `error` says why; stop using the previous value. */
  readonly value?: T;
  /**
   * The version that the server gave, or a hash of the content if it gave none (S-VER-4). Empty if
   * there is no resource.
   */
  readonly version: string;
  /**
   * Next to a value: an ambient error; the value stays valid (a server is unreachable, or a newer
   * state was rejected). Without a value: the reason why there is none.
   */
  readonly error?: XdsError;
  /**
   * When a server sent the value, in milliseconds since the epoch. Present while the value is from
   * the option `snapshot` of the client and no server has confirmed it since the start; `error` is
   * then present too.
   */
  readonly restoredAt?: number;
  /** Present if `value` is the option `default` of the watch; `error` says why. */
  readonly isDefault?: true;
}

/**
 * Options that make the requested name from the name that a program gives (C-CTX-1), and choose
 * the server that it is requested from.
 */
export interface NameOptions {
  /**
   * Attributes of this one lookup, such as `xds.resource.host` (C-CTX-5): context parameters that
   * override those of the name and of the client.
   */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * The ConfigSource next to the name: servers (the result of `readConfigSource` of
   * `@xdstp/bootstrap/envoy`), the ADS source of the bootstrap, or the source that has delivered
   * the reference. An opaque name is always requested there. An xdstp name is requested there if
   * its authority is one of `authorities`, else as the bootstrap says (C-AUTH-1, C-AUTH-6).
   * Resources of several sources under one name are kept apart.
   * `ads`: the ADS source of the bootstrap; if there is none, as without `source`. `self`: the
   * source of the payload that has the reference; for a name that a program gives, as without
   * `source`. Default: as the bootstrap says.
   */
  readonly source?: SourceConfig | "ads" | "self";
}

/** A type as a program watches it: its type URL, and how its payloads are decoded. */
export interface WatchedType<T> {
  /** `type.googleapis.com/` and the full name of the message. */
  readonly typeUrl: string;
  /**
   * Decodes a payload. Throws if the bytes are not such a message; then the resource is rejected.
   */
  decode(payload: Uint8Array): T;
  /**
   * Decodes a redirect that arrived instead of a payload (an encoded
   * `xds.core.v3.ResourceLocator`), for a client with `follow: false`. Default: redirects are
   * rejected.
   */
  redirect?(payload: Uint8Array): T;
}

/** A schema of protobuf-es (`ClusterSchema`), or a type of your own. */
export type TypeSource<T> = DescMessage | WatchedType<T>;

/** The type of the messages of a {@link TypeSource}. */
export type ValueOf<S> = S extends DescMessage
  ? MessageShape<S>
  : S extends WatchedType<infer T>
    ? T
    : never;

/** Returns the type of a schema, or the type itself. */
export function watchedType<S extends TypeSource<unknown>>(source: S): WatchedType<ValueOf<S>> {
  if (!isSchema(source)) return source as WatchedType<ValueOf<S>>;
  return {
    typeUrl: `type.googleapis.com/${source.typeName}`,
    decode: (payload) => fromBinary(source, payload) as ValueOf<S>,
  };
}

/** Returns true for a schema of protobuf-es. */
export function isSchema(source: TypeSource<unknown>): source is DescMessage {
  return "kind" in source;
}
