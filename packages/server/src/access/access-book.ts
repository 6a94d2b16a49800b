import type { ResourceSource } from "@xdstp/core";
import type { Policy } from "@xdstp/policy";
import type { ServerStream } from "@xdstp/protocol/server";

import type { EndableHandler } from "../admitted-stream.ts";
import type { OpenStreams } from "../open-streams.ts";

/** What a client is served. */
export interface Access {
  readonly policy: Policy | undefined;
  /** What was chosen for it, all of it. */
  readonly root: ResourceSource;
  /** What of it the client may see. */
  readonly source: ResourceSource;
  /** Whether the client may see a name now. */
  allows(typeUrl: string, name: string): boolean;
  /** Tells when the client may see something else; the answer ends it. */
  onChange(listener: () => void): () => void;
  /** Call it once when it is not needed any more. */
  release(): void;
}

/** What the streams of a server were let see. */
export interface AccessBook {
  /** Streams of which nothing is decided yet. */
  readonly waiting: Set<EndableHandler>;
  note(stream: ServerStream, access: Access): void;
  /** undefined: everything. */
  of(stream: ServerStream): Access | undefined;
}

/** Nothing noted yet; what is, is forgotten with its stream. */
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

/** What a source is a view of, or the source itself: its clients and those of all its views are looked at as one. */
export function rootOf(source: ResourceSource): ResourceSource {
  return source.viewOf ?? source;
}

/** The streams that are served from a source, from a view of it, or from a filter over these: revisions of other sources say nothing of it. */
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
