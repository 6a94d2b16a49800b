import { sortMaps } from "./sort-maps.ts";

/** A message type of protobuf-es, as far as it is needed here: any `...Schema` of generated code fits. */
export interface MessageSchema {
  /** The full name of the message. */
  readonly typeName: string;
  /** Its fields. */
  readonly fields: readonly MessageField[];
}

/** A field of a {@link MessageSchema}. */
export interface MessageField {
  /** The field number. */
  readonly number: number;
  /** The name of the field in the message object. */
  readonly localName: string;
  /** `scalar`, `enum`, `message`, `list` or `map`. */
  readonly fieldKind: string;
  /** The type of a message, or of the messages in a list or map. */
  readonly message?: MessageSchema | undefined;
  /** The group that the field belongs to. Absent: none. */
  readonly oneof?: { readonly localName: string } | undefined;
}

/** How a program's messages of one type become resources. */
export interface MessageType<M> {
  /** The type URL of its resources. */
  readonly typeUrl: string;
  /** The bytes of a message. */
  encode(message: M): Uint8Array;
  /** The name that a message holds. */
  nameOf(message: M): string;
}

/** Options of {@link messageType}. */
export interface MessageTypeOptions {
  /** Number of the field that holds the name. Absent: 1. */
  readonly nameField?: number;
}

/**
 * A message type for `put`, of a schema and an encoder; with protobuf-es: `messageType(ClusterSchema, (cluster: Cluster) => toBinary(ClusterSchema, cluster))`.
 *
 * Map keys are sorted before a message is encoded, so that equal messages have equal bytes and versions (S-VER-4).
 */
export function messageType<M extends object>(
  schema: MessageSchema,
  encode: (message: M) => Uint8Array,
  { nameField = 1 }: MessageTypeOptions = {},
): MessageType<M> {
  const field = schema.fields.find(({ number }) => number === nameField);
  return {
    typeUrl: `type.googleapis.com/${schema.typeName}`,
    encode: (message) => encode(sortMaps(schema, message)),
    nameOf(message) {
      const name: unknown = field === undefined ? undefined : Reflect.get(message, field.localName);
      return typeof name === "string" ? name : "";
    },
  };
}
