import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";

/** A type of resources: its type URL, and how its content is read. */
export interface WebType<T> {
  /** `type.googleapis.com/` and the full name of the message. */
  readonly typeUrl: string;
  /** The form in which the server sends the content. */
  readonly form: "json" | "protobuf";
  /** Reads the content. Throws if it is not of this type; then it is rejected. */
  decode(body: Uint8Array): T;
}

/** The type of the values of a {@link WebType}. */
export type ValueOf<S> = S extends WebType<infer T> ? T : never;

/**
 * Returns the type of messages of protobuf-es: `messageType(FlagSchema)`. It brings the reader of
 * protobuf along; `jsonType` does not.
 */
export function messageType<S extends DescMessage>(schema: S): WebType<MessageShape<S>> {
  return {
    typeUrl: `type.googleapis.com/${schema.typeName}`,
    form: "protobuf",
    decode: (body) => fromBinary(schema, body),
  };
}

/**
 * Returns a type that is read as JSON, in the form of ProtoJSON: `jsonType<Flag>("acme.v1.Flag")`.
 * Fields with their default value are absent. The content is not checked against `T`, so use
 * `validate` of the watch where a wrong value would do harm.
 */
export function jsonType<T>(typeName: string): WebType<T> {
  return {
    typeUrl: `type.googleapis.com/${typeName}`,
    form: "json",
    decode: (body) => JSON.parse(new TextDecoder().decode(body)) as T,
  };
}
