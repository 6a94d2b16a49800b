import type { ServerEvent } from "@xdstp/server";

/** When something last happened between a stream and a type: what the table's age counts from. */
export interface SinceBook {
  note(event: ServerEvent, time: number): void;
  /** Milliseconds since the epoch; undefined if nothing has happened yet. */
  readonly of: (stream: number, typeUrl: string) => number | undefined;
}

/** An empty book. It forgets streams that have ended. */
export function createSinceBook(): SinceBook {
  const streams = new Map<number, Map<string, number>>();
  return {
    note(event, time) {
      if (!("stream" in event)) return;
      const { id } = event.stream;
      if (event.kind === "connect") streams.set(id, new Map());
      else if (event.kind === "disconnect") streams.delete(id);
      else if ("typeUrl" in event) streams.get(id)?.set(event.typeUrl, time);
    },
    of: (stream, typeUrl) => streams.get(stream)?.get(typeUrl),
  };
}
