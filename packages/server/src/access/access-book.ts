import type { ResourceSource } from "@xdstp/core";
import type { Policy } from "@xdstp/policy";
import type { ServerStream } from "@xdstp/protocol/server";

import type { EndableHandler } from "../admitted-stream.ts";
import type { OpenStreams } from "../open-streams.ts";

/** The source of a client, and what it may see of it. */
export interface Access {
  readonly policy: Policy | undefined;
  /** The source that was chosen for the client, unfiltered. */
  readonly root: ResourceSource;
  /** The part of the source that the client may see. */
  readonly source: ResourceSource;
  /** Returns true if the client may see a name now. */
  allows(typeUrl: string, name: string): boolean;
  /**
   * Calls the listener when the rights of the client change. Returns a function that removes the
   * listener.
   */
  onChange(listener: () => void): () => void;
  /** Call it once when the access is no longer needed. */
  release(): void;
}

/** The access of each stream of a server. */
export interface AccessBook {
  /** Streams without a decision yet. */
  readonly waiting: Set<EndableHandler>;
  note(stream: ServerStream, access: Access): void;
  /** Returns `undefined` for a stream without restrictions. */
  of(stream: ServerStream): Access | undefined;
}

/** Creates an empty table. An entry is removed with its stream. */
export function createAccessBook(): AccessBook {
  const notes = new WeakMap<ServerStream, Access>();
  return {
    waiting: new Set(),
    note(stream, access) {
      notes.set(stream, access);
    },
    of: (stream) => notes.get(stream),
  };
}

/**
 * Returns the source that a source is a view of, or the source itself. The clients of a source and
 * of all its views are treated as one group.
 */
export function rootOf(source: ResourceSource): ResourceSource {
  return source.viewOf ?? source;
}

/**
 * Returns the streams that are served from a source, from a view of it, or from a filter over
 * these. Revisions of other sources are unrelated to it.
 */
export function streamsOn(
  source: ResourceSource,
  streams: OpenStreams,
  book: AccessBook,
): Pick<OpenStreams, "all" | "get"> {
  const isOn = (stream: ServerStream): boolean =>
    rootOf(book.of(stream)?.root ?? source) === rootOf(source);
  return {
    all: () => streams.all().filter(isOn),
    get(id) {
      const stream = streams.get(id);
      return stream !== undefined && isOn(stream) ? stream : undefined;
    },
  };
}
