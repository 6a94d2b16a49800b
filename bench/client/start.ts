import type { LoadHost } from "./load-stream.ts";

/** The first responses to a client, until it is in sync. */
export interface Start {
  /** Whether a response with so many resources belongs to the start. */
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
