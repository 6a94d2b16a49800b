import { type ByteStream, StatusCode } from "@xdstp/core";
import type { ServerStream, StreamStatus } from "@xdstp/protocol/server";
import { guardStream, type GuardedStream } from "./guarded-stream.ts";

/** The streams of a server that are open. */
export interface OpenStreams {
  /** Takes a stream in until it is closed. */
  add(served: ServerStream, out: ByteStream): GuardedStream;
  /** Ends the stream that a scheduler has served and that has thrown. */
  fail(drainable: object, error: unknown): void;
  /** By `StreamInfo.id`. */
  get(id: number): ServerStream | undefined;
  /** In the order in which they came. */
  all(): readonly ServerStream[];
  /** A row per stream, in the order in which they came. */
  status(): readonly StreamStatus[];
  /** Ends all with OK: a client that has had a response takes no harm (S-STREAM-13). */
  end(): void;
}

/** No streams yet. */
export function createOpenStreams(fault: (where: string, error: unknown) => void): OpenStreams {
  const open = new Map<object, GuardedStream>();
  const byId = new Map<number, ServerStream>();
  const closed = ({ served }: GuardedStream): void => {
    open.delete(served);
    byId.delete(served.info.id);
  };
  const host = { fault, closed };
  return {
    add(served, out) {
      const guarded = guardStream(served, out, host);
      open.set(served, guarded);
      byId.set(served.info.id, served);
      return guarded;
    },
    fail(drainable, error) {
      const guarded = open.get(drainable);
      if (guarded === undefined) fault("turn", error);
      else guarded.fail("turn", error);
    },
    get: (id) => byId.get(id),
    all: () => [...open.values()].map(({ served }) => served),
    status: () => [...open.values()].map(({ served }) => served.status()),
    end() {
      for (const guarded of [...open.values()])
        guarded.end({ code: StatusCode.OK, message: "the server is shutting down" });
    },
  };
}
