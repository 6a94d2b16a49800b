import type { XdsError } from "@xdstp/core";
import type { FollowedResource, FollowedState } from "@xdstp/transport-http/client";

import type { WebType } from "./web-type.ts";

/** Where the resources of a client come from: native HTTP, or xDS over a WebSocket. */
export interface ResourceOrigin {
  /**
   * Finds a resource, and requests nothing yet. Throws an XdsError if it cannot be requested: see
   * `WebClient.watch`.
   */
  locate(type: WebType<unknown>, name: string): LocatedResource;
  /** Ends what the resources share. Their followers have been closed before. */
  close(): void;
}

/** A resource that can be followed. */
export interface LocatedResource {
  /** Identifies the resource among those of all clients with the same store. */
  readonly key: string;
  /** The resource, as errors name it. */
  readonly label: string;
  /** Requests the resource until it is closed. Does not call back before it returns. */
  follow(follower: ResourceFollower): FollowedResource;
}

/** The calls about one resource. */
export interface ResourceFollower {
  /** Receives each state after the first, which is `unknown`. */
  readonly onState: (state: FollowedState) => void;
  /** The server has said that it has nothing newer, or is still connected. */
  readonly onConfirmed: () => void;
  /** Returns the reason why a watch rejects a body, for a server that wants to know it. */
  readonly check: (body: Uint8Array) => XdsError | undefined;
}
