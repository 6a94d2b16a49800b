/**
 * Turns messages of one type into resources. `messageType` of `@xdstp/resource-types` makes one from a schema of protobuf-es.
 *
 * @typeParam M - the messages.
 */
export interface MessageType<M> {
  /** The type URL of the resources. */
  readonly typeUrl: string;
  /** Returns the bytes of a message. */
  encode(message: M): Uint8Array;
  /** Returns the name in a message; empty if the message has none. */
  nameOf(message: M): string;
}
