import type { NackError, ServerStream } from "@xdstp/protocol/server";
import type { NodeInfo } from "@xdstp/core";
import type { AckError } from "./ack-error.ts";
import { changesFrom, createAckTracker, type AckTracker } from "./ack-tracker.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { ServerEvent } from "./server-event.ts";

/** The result of a wait in which all clients have accepted. */
export interface AckReport {
  /** The revision that was waited for. */
  readonly revision: number;
  /**
   * True if the changes of the revision had no subscribers during the wait, so there was nothing to
   * wait for.
   */
  readonly noSubscribers: boolean;
  /**
   * The clients that the changes concerned, without those that unsubscribed before an ACK. An ACK
   * means that a client has accepted a change, not that the change is in force there.
   */
  readonly accepted: readonly {
    /** The node id, a claim of the client. */
    readonly node: string;
    /** The address of the client. */
    readonly peer: string;
    /** The id of the stream, as in its status. */
    readonly stream: number;
    /** The types of the changes that concerned it. */
    readonly typeUrls: readonly string[];
  }[];
  /**
   * Subscribers that disconnected without an answer: their state is unknown. A client that came
   * back and accepted is in `accepted` too, as another stream.
   */
  readonly gone: AckReport["accepted"];
}

type MissingAck = AckError["missing"][number];
type AckedClient = AckReport["accepted"][number];

/** A client that has rejected a change that is waited for. */
export interface Rejection {
  readonly stream: number;
  readonly node: string;
  readonly error: NackError;
}

/** One wait for the ACKs of a revision, without timers and promises. */
export interface AckWait {
  /** Checks new streams and types. Returns the first client that has rejected. */
  look(): Rejection | undefined;
  /**
   * Handles an event. Calls `again` in a later microtask if there is something new to check.
   * Returns a rejection if the event is one.
   */
  observe(event: ServerEvent, again: () => void): Rejection | undefined;
  readonly done: boolean;
  report(): AckReport;
  missing(rejection?: Pick<Rejection, "stream" | "error">): readonly MissingAck[];
}

/** Creates a wait that has not checked any stream yet. */
export function createAckWait(
  streams: Pick<OpenStreams, "all" | "get">,
  revision: number,
  nodes: readonly string[] | ((node: NodeInfo) => boolean) | undefined,
): AckWait {
  return new Wait(streams, revision, nodes);
}

interface Followed {
  readonly served: ServerStream;
  readonly node: NodeInfo;
  readonly types: Map<string, AckTracker>;
}

class Wait implements AckWait {
  readonly #streams: Pick<OpenStreams, "all" | "get">;
  readonly #revision: number;
  readonly #named: readonly string[];
  readonly #matches: (node: NodeInfo) => boolean;
  readonly #changesOf: ReturnType<typeof changesFrom>;
  readonly #followed = new Map<number, Followed>();
  /** Clients that the changes concerned and that have disconnected, with an ACK and without. */
  readonly #left: { readonly accepted: AckedClient[]; readonly gone: AckedClient[] } = {
    accepted: [],
    gone: [],
  };
  /** Node ids of named clients that had accepted and have disconnected. */
  readonly #satisfied = new Set<string>();
  /** Trackers that still wait. */
  #open = new Set<AckTracker>();
  #newcomers = new Set<number>();
  #hadSubscribers = false;

  constructor(
    streams: Pick<OpenStreams, "all" | "get">,
    revision: number,
    nodes: readonly string[] | ((node: NodeInfo) => boolean) | undefined,
  ) {
    this.#streams = streams;
    this.#revision = revision;
    this.#named = typeof nodes === "object" ? [...new Set(nodes)] : [];
    const named = new Set(this.#named);
    this.#matches =
      typeof nodes === "function"
        ? nodes
        : typeof nodes === "object"
          ? ({ id }) => named.has(id)
          : () => true;
    this.#changesOf = changesFrom(revision);
    for (const { info } of streams.all()) this.#newcomers.add(info.id);
  }

  get done(): boolean {
    return this.#open.size === 0 && this.#newcomers.size === 0 && this.#absent().length === 0;
  }

  look(): Rejection | undefined {
    const ids = [...this.#newcomers];
    this.#newcomers.clear();
    return ids
      .map((id) => this.#lookAt(this.#streams.get(id)))
      .find((rejection) => rejection !== undefined);
  }

  #lookAt(served: ServerStream | undefined): Rejection | undefined {
    const node = served?.info.node;
    if (served === undefined || node === undefined || !this.#matches(node)) return undefined;
    const followed = this.#followed.get(served.info.id) ?? {
      served,
      node,
      types: new Map<string, AckTracker>(),
    };
    this.#followed.set(served.info.id, followed);
    if (!served.changedBy(this.#revision)) return undefined;
    let rejection: Rejection | undefined;
    for (const view of served.views()) {
      const { typeUrl, exchange } = view;
      const tracker =
        followed.types.get(typeUrl) ?? createAckTracker(this.#revision, this.#changesOf);
      followed.types.set(typeUrl, tracker);
      const { code, message } = exchange.lastError ?? unknown;
      if (tracker.look(view) === "rejected")
        rejection ??= { stream: served.info.id, node: node.id, error: { code, message } };
      this.#note(tracker);
      if (tracker.concerned) this.#hadSubscribers = true;
    }
    return rejection;
  }

  #note(tracker: AckTracker): void {
    if (tracker.done) this.#open.delete(tracker);
    else this.#open.add(tracker);
  }

  observe(event: ServerEvent, again: () => void): Rejection | undefined {
    if (!("stream" in event)) return undefined;
    const { id } = event.stream;
    const followed = this.#followed.get(id);
    if (event.kind === "disconnect") {
      this.#forget(id, followed);
      return undefined;
    }
    const tracker = "typeUrl" in event ? followed?.types.get(event.typeUrl) : undefined;
    if (event.kind === "subscribe" || tracker === undefined) {
      this.#lookLater(id, again);
      return undefined;
    }
    if (event.kind === "push") tracker.pushed();
    if (event.kind === "ack") tracker.acked();
    this.#note(tracker);
    return event.kind === "nack" && tracker.holds
      ? { stream: id, node: followed?.node.id ?? "", error: event.error }
      : undefined;
  }

  /** An event is emitted before the stream has acted on it, so the stream is checked later. */
  #lookLater(id: number, again: () => void): void {
    if (this.#newcomers.size === 0) queueMicrotask(again);
    this.#newcomers.add(id);
  }

  #forget(id: number, followed: Followed | undefined): void {
    this.#newcomers.delete(id);
    this.#followed.delete(id);
    for (const tracker of followed?.types.values() ?? []) this.#open.delete(tracker);
    if (followed === undefined) return;
    const isAnswered = isDone(followed);
    if (isAnswered) this.#satisfied.add(followed.node.id);
    if (isConcerned(followed)) this.#left[isAnswered ? "accepted" : "gone"].push(ackedOf(followed));
  }

  #absent(): readonly string[] {
    if (this.#named.length === 0) return [];
    const present = new Set([...this.#followed.values()].map(({ node }) => node.id));
    return this.#named.filter((id) => !present.has(id) && !this.#satisfied.has(id));
  }

  report(): AckReport {
    const gone = [...this.#left.gone];
    const accepted = [
      ...this.#left.accepted,
      ...[...this.#followed.values()]
        .filter((followed) => isConcerned(followed) && isDone(followed))
        .map(ackedOf),
    ];
    return {
      revision: this.#revision,
      noSubscribers: !this.#hadSubscribers,
      accepted,
      gone,
    };
  }

  missing(rejection?: Pick<Rejection, "stream" | "error">): readonly MissingAck[] {
    const rows = [...this.#followed.values()].flatMap(({ served: { info }, node, types }) =>
      [...types]
        .filter(([, tracker]) => !tracker.done)
        .map(([typeUrl, tracker]): MissingAck => {
          const { names, delivery } = tracker.missing();
          const rejected =
            info.id === rejection?.stream && (delivery === "rejected" || tracker.holds);
          return {
            node: node.id,
            peer: info.peer,
            stream: info.id,
            typeUrl,
            names,
            state: rejected ? "rejected" : delivery === "accepted" ? "pending" : delivery,
            ...(rejected && { error: rejection.error }),
          };
        }),
    );
    return [...rows, ...this.#absent().map((node): MissingAck => ({ node, state: "absent" }))];
  }
}

const unknown: NackError = { code: 2, message: "" };

function isConcerned({ types }: Followed): boolean {
  return types.values().some(({ concerned }) => concerned);
}

function isDone({ types }: Followed): boolean {
  return types.values().every(({ done }) => done);
}

function ackedOf({
  served: {
    info: { id, peer },
  },
  node,
  types,
}: Followed): AckedClient {
  return {
    node: node.id,
    peer,
    stream: id,
    typeUrls: [...types].filter(([, { concerned }]) => concerned).map(([typeUrl]) => typeUrl),
  };
}
