/** Callbacks of the streams of a fleet of clients, and the number of resources that each client expects. */
export interface LoadHost {
  /** Number of resources after which a client is in sync. 0: after its first response. */
  readonly resources: number;
  /** The versions that each client lists at first, encoded. */
  readonly held?: Uint8Array | undefined;
  /** A client has received everything that it subscribes to. */
  synced(bytes: number): void;
  /** A client in sync has read one more response. */
  pushed(message: Buffer, client: number): void;
  /** A request was sent. */
  sent(bytes: number): void;
  /** A stream or connection has ended, which is an error. */
  lost(error: Error): void;
}

/** The first responses to a client, until it is in sync. */
export interface Start {
  /** True if a response with this number of resources belongs to the start. */
  takes(message: Buffer, resources: number): boolean;
}

/** The start of one client. A resource more than is due loses it: one that lists all versions gets none. */
export function createStart({
  resources: due,
  synced,
  lost,
}: Pick<LoadHost, "resources" | "synced" | "lost">): Start {
  let missing = due;
  let bytes = 0;
  let over = false;
  return {
    takes(message, resources) {
      if (over) return false;
      missing -= resources;
      bytes += message.length;
      over = missing <= 0;
      if (missing < 0)
        lost(
          new Error(
            `the first answer to a client had ${due - missing} resources where ${due} were due`,
          ),
        );
      else if (over) synced(bytes);
      return true;
    },
  };
}
