import type { ByteStream, ByteStreamHandler, Clock } from "@xdstp/core";

import type { ServerConfig } from "./server-config.ts";

/** The part of the configuration of a server that its connection depends on. */
export type TransportServer = Pick<
  ServerConfig,
  "uri" | "credentials" | "features" | "rest" | "file"
>;

/** A connection to one server. */
export interface TransportConnection {
  /**
   * Opens a stream. `path` is the method of gRPC, which selects the variant and the type (B-STREAM-2).
   * It may throw an XdsError; the stream has then failed, and another one is opened later.
   */
  open(
    call: {
      readonly path: string;
      /** Headers of the stream. Default: none. */
      readonly metadata?: Readonly<Record<string, string>>;
    },
    handler: ByteStreamHandler,
  ): ByteStream;
  /** Ends the connection after its last stream. An exception is ignored. */
  close(): void;
}

/**
 * Connects to servers over a wire that this package does not have: a value of the option
 * `transports` of {@link createChannels}. It is called once for equal servers. It throws an
 * XdsError for a server that it cannot connect to.
 */
export type Transport = (
  server: TransportServer,
  options: {
    /** The clock of deadlines. */
    readonly clock: Clock;
    /** The maximum size of a message in bytes. Default: that of the transport. */
    readonly maxMessageBytes?: number;
  },
) => TransportConnection;
