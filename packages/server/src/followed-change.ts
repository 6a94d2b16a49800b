import type { ServerStream } from "@xdstp/protocol/server";
import { changesFrom, createAckTracker, type AckTracker } from "./ack-tracker.ts";
import type { OpenStreams } from "./open-streams.ts";
import type { ServerEvent } from "./server-event.ts";

/**
 * One change, followed to the streams that it concerned when it was made. Answers are counted by
 * stream and type.
 */
export interface FollowedChange {
  /** The types with a change for at least one client. */
  readonly typeUrls: readonly string[];
  /** The number of missing answers. */
  readonly open: number;
  readonly accepted: number;
  readonly rejected: number;
  /**
   * The number of answers that are missing because their streams have ended or have unsubscribed
   * what was changed.
   */
  readonly gone: number;
  /** Handles an event. Returns the meaning of the event for this change. */
  observe(event: ServerEvent): "push" | "ack" | "nack" | undefined;
  /** Stops following what a stream has unsubscribed. */
  forgetUnsubscribed(stream: ServerStream): void;
}

/** Follows the changes from a revision on. */
export function followChange(streams: Pick<OpenStreams, "all">, revision: number): FollowedChange {
  return new Followed(streams, revision);
}

class Followed implements FollowedChange {
  readonly typeUrls: readonly string[];
  accepted = 0;
  rejected = 0;
  gone = 0;
  readonly #open = new Map<number, Map<string, AckTracker>>();

  constructor(streams: Pick<OpenStreams, "all">, revision: number) {
    const changesOf = changesFrom(revision);
    const typeUrls = new Set<string>();
    for (const stream of streams.all()) {
      for (const view of stream.views()) {
        const tracker = createAckTracker(revision, changesOf);
        tracker.look(view);
        if (!tracker.concerned || tracker.done) continue;
        typeUrls.add(view.typeUrl);
        this.#follow(stream.info.id, view.typeUrl, tracker);
      }
    }
    this.typeUrls = [...typeUrls];
  }

  get open(): number {
    return this.#open.values().reduce((sum, { size }) => sum + size, 0);
  }

  observe(event: ServerEvent): "push" | "ack" | "nack" | undefined {
    if (!("stream" in event)) return undefined;
    const types = this.#open.get(event.stream.id);
    if (types === undefined) return undefined;
    if (event.kind === "disconnect") {
      this.#leave(event.stream.id, types.size);
      return undefined;
    }
    const tracker = "typeUrl" in event ? types.get(event.typeUrl) : undefined;
    if (tracker === undefined || !("typeUrl" in event)) return undefined;
    const answer = answerOf(event.kind, tracker);
    if (answer === "ack" && tracker.done) this.accepted++;
    else if (answer === "nack") this.rejected++;
    else return answer;
    types.delete(event.typeUrl);
    if (types.size === 0) this.#open.delete(event.stream.id);
    return answer;
  }

  forgetUnsubscribed(stream: ServerStream): void {
    const types = this.#open.get(stream.info.id);
    if (types === undefined) return;
    for (const view of stream.views()) {
      const tracker = types.get(view.typeUrl);
      if (tracker === undefined) continue;
      tracker.forgetUnsubscribed(view);
      if (!tracker.done) continue;
      if (tracker.concerned) this.accepted++;
      else this.gone++;
      types.delete(view.typeUrl);
    }
    if (types.size === 0) this.#open.delete(stream.info.id);
  }

  #follow(stream: number, typeUrl: string, tracker: AckTracker): void {
    const types = this.#open.get(stream) ?? new Map<string, AckTracker>();
    this.#open.set(stream, types.set(typeUrl, tracker));
  }

  #leave(stream: number, types: number): void {
    this.gone += types;
    this.#open.delete(stream);
  }
}

function answerOf(
  kind: ServerEvent["kind"],
  tracker: AckTracker,
): "push" | "ack" | "nack" | undefined {
  if (kind === "nack") return tracker.holds ? "nack" : undefined;
  if (kind === "ack") tracker.acked();
  else if (kind === "push") tracker.pushed();
  else return undefined;
  return kind === "ack" || tracker.holds ? kind : undefined;
}
