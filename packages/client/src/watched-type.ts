import { fromBinary, type DescMessage, type MessageShape } from "@bufbuild/protobuf";

/** A type as a program watches it: its type URL, and how its payloads are read. */
export interface WatchedType<T> {
  /** Its type URL: `type.googleapis.com/` and the full name of the message. */
  readonly typeUrl: string;
  /** Throws on bytes that are not such a message: the resource is then rejected. */
  decode(payload: Uint8Array): T;
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
