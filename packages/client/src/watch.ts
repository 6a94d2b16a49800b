import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import type { SourceConfig } from "@xdstp/bootstrap";
import type { XdsError, Resource } from "@xdstp/core";

/**
 * What is watched, as it changes: an async iterable of the newest state. What a slow reader has not taken when something newer comes, it never sees.
 * It is for one loop: two would share what comes, and the first to break ends both.
 */
export interface Watch<Update> extends AsyncIterable<Update, undefined>, AsyncDisposable {
  /** As it is requested: with the context parameters of the client. */
  readonly name: string;
  /** Ends it: a loop over it ends, nothing more is given or called, also if it had come before. The last watch of a name ends its subscription (C-SUB-10). */
  close(): void;
}

/** Options of a watch. */
export interface WatchOptions<T> extends NameOptions {
  /** What a program says of a resource, in addition to what the descriptor demands: why it is rejected, as a text or an error; undefined: it is accepted. What it throws rejects too. A rejection is NACKed with its text, and the state before stays (C-ACK-5). What came before the watch began is checked too, and then only this watch is notified. It should not take long: it runs where responses are read. */
  readonly validate?: (value: T, resource: Resource) => string | Error | undefined;
  /** Ends the watch: a loop over it throws the reason; calls just end. */
  readonly signal?: AbortSignal;
}

/** The two calls of gRPC (C-GRPC-8). The next one is made when the promise of the one before has settled; what a call throws ends the watch and surfaces as an unhandled rejection. */
export interface WatchCalls<T> {
  /** A value that is new; or, without a value, an error that says to stop using the one before. */
  onChanged?(snapshot: Snapshot<T>): void | Promise<void>;
  /** The cached resource stays valid, and may be out of date. undefined: it is not any more. */
  onAmbientError?(error: Snapshot<T>["error"]): void | Promise<void>;
}

/** The state of a name as the client knows it (C-GRPC-8). */
export interface Snapshot<T> {
  /** As it was requested. */
  readonly name: string;
  /** The resource. Absent: there is none, `error` says why; stop using what came before. */
  readonly value?: T;
  /** The version that the server gave, or a hash of the content where it gave none (S-VER-4). Empty where no resource exists. */
  readonly version: string;
  /** Next to a value: ambient, the value stays valid (the server is away, a newer state was rejected). Alone: why there is none. */
  readonly error?: XdsError;
}

/** How the requested name is made of the one that a program gives (C-CTX-1), and where it is requested. */
export interface NameOptions {
  /** Attributes of this one look-up, such as `xds.resource.host` (C-CTX-5): context parameters that override those of the name and of the client. */
  readonly attributes?: Readonly<Record<string, string>>;
  /**
   * The ConfigSource next to the name: its servers (what `readConfigSource` of `@xdstp/bootstrap/envoy` gives for `servers`), the ADS source of the bootstrap, or the source that has delivered the reference. An opaque name is requested there; an xdstp name, if its authority is one of `authorities`, else as the bootstrap says (C-AUTH-1, C-AUTH-6). What several sources have under one name is kept apart.
   * `ads`: as without it where the bootstrap has no ADS source. `self`: in a payload; for a name of the program as without it. Default: as the bootstrap says.
   */
  readonly source?: SourceConfig | "ads" | "self";
}

/** A type as a program watches it: its type URL, and how its payloads are read. */
export interface WatchedType<T> {
  /** Its type URL: `type.googleapis.com/` and the full name of the message. */
  readonly typeUrl: string;
  /** Throws on bytes that are not such a message: the resource is then rejected. */
  decode(payload: Uint8Array): T;
  /** Reads a redirect that came instead of a payload, an encoded `xds.core.v3.ResourceLocator`, to a client with `follow: false`. Default: it is rejected. */
  redirect?(payload: Uint8Array): T;
}

/** A schema of protobuf-es (`ClusterSchema`), or a type of one's own. */
export type TypeSource<T> = DescMessage | WatchedType<T>;

/** What the messages of a {@link TypeSource} are. */
export type ValueOf<S> = S extends DescMessage
  ? MessageShape<S>
  : S extends WatchedType<infer T>
    ? T
    : never;

/** The type of a schema, or the type itself. */
export function watchedType<S extends TypeSource<unknown>>(source: S): WatchedType<ValueOf<S>> {
  if (!isSchema(source)) return source as WatchedType<ValueOf<S>>;
  return {
    typeUrl: `type.googleapis.com/${source.typeName}`,
    decode: (payload) => fromBinary(source, payload) as ValueOf<S>,
  };
}

/** It is a schema of protobuf-es. */
export function isSchema(source: TypeSource<unknown>): source is DescMessage {
  return "kind" in source;
}
