import type { Clock, Status } from "@xdstp/core";
import type { OpenStream } from "./create-recorder.ts";
import type { Recording } from "./recording.ts";
import type { ReadResource, ReadResponse } from "./read-message.ts";

/** Events while the client's side of a recording is played. `stream` is that of the recording. */
export type ReplayClientEvent = { readonly stream: number } & (
  | { readonly kind: "request" | "response"; readonly type: string; readonly text: string }
  /** The server holds something else than it did. Told once for each name and state. */
  | { readonly kind: "difference"; readonly type: string; readonly difference: HeldDifference }
  /** The stream ended otherwise; undefined: it did not end. */
  | {
      readonly kind: "ended";
      readonly recorded: Status | undefined;
      readonly now: Status | undefined;
    }
);

/** What {@link replayClient} needs. */
export interface ReplayClientOptions {
  /** The recording whose client side is sent. */
  readonly recording: Recording;
  /** Opens a stream to the server of now, with the method of the recording. */
  readonly open: OpenStream;
  /** Milliseconds that the server gets for what the recording says it answered. Default: 5,000. */
  readonly answerMs?: number;
  /** Whether a SotW response of a type is all there is. Default: of none. */
  readonly isFullState?: (typeUrl: string) => boolean;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Told what happens. */
  readonly onEvent?: (event: ReplayClientEvent) => void;
}

/** What a client holds of one type after some responses, by name. */
export interface HeldState {
  readonly resources: ReadonlyMap<string, ReadResource>;
  apply(response: ReadResponse): void;
}

/** One name that two sides hold differently. Absent: that side has none. */
export interface HeldDifference {
  /** The name of the resource. */
  readonly name: string;
  /** The state in the recording. Absent: nothing. */
  readonly recorded?: ReadResource;
  /** The state now. Absent: nothing. */
  readonly now?: ReadResource;
}

/** Begins with nothing. @param isFullState - A response is the full state: what it leaves out is removed */
export function createHeldState(isFullState: boolean): HeldState {
  const resources = new Map<string, ReadResource>();
  return {
    resources,
    apply(response) {
      if (isFullState) resources.clear();
      for (const resource of response.resources)
        resources.set(resource.name, { ...resource, payload: Uint8Array.from(resource.payload) });
      for (const name of response.removed) resources.delete(name);
    },
  };
}

/** Where the content differs. Versions are a server's own business. */
export function heldDifferences(recorded: HeldState, now: HeldState): readonly HeldDifference[] {
  const names = [...new Set([...recorded.resources.keys(), ...now.resources.keys()])].sort();
  return names.flatMap((name) => {
    const [one, other] = [recorded.resources.get(name), now.resources.get(name)];
    if (
      one?.type === other?.type &&
      Buffer.compare(one?.payload ?? none, other?.payload ?? none) === 0
    )
      return [];
    return [
      {
        name,
        ...(one !== undefined && { recorded: one }),
        ...(other !== undefined && { now: other }),
      },
    ];
  });
}

const none = new Uint8Array();
