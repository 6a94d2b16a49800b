import { type Clock, type Resource, type Timer, XdsError } from "@xdstp/core";
import { copyBytes, equalBytes } from "@xdstp/core/wire";
import type { FollowedResource, FollowedState } from "@xdstp/transport-http/client";

import type { ResourceFollower } from "../resource-origin.ts";

/** What the server has sent of a name. */
type Content =
  | { readonly kind: "unknown" }
  | Omit<Extract<FollowedState, { readonly kind: "found" }>, "error">
  | Extract<FollowedState, { readonly kind: "missing" }>;

/** Options of {@link FollowedName}. */
export interface FollowedNameHost {
  readonly clock: Clock;
  readonly typeUrl: string;
  readonly name: string;
  readonly follower: ResourceFollower;
  /** The reason why the server cannot be reached. */
  readonly outage: () => XdsError | undefined;
  /** Ends the subscription. */
  readonly onClose: () => void;
}

/** A subscribed name, with the newest content that the server has sent. */
export class FollowedName implements FollowedResource {
  readonly #host: FollowedNameHost;
  #content: Content = { kind: "unknown" };
  /** The error of this name alone. */
  #failure: XdsError | undefined;
  /** The newest version that all watches have accepted. */
  #accepted: string | undefined;
  #expiry: Timer | undefined;
  #isDue = false;

  constructor(host: FollowedNameHost) {
    this.#host = host;
  }

  get typeUrl(): string {
    return this.#host.typeUrl;
  }

  get name(): string {
    return this.#host.name;
  }

  /** The version that the server may assume on a new stream (C-RECON-3). undefined: none. */
  get accepted(): string | undefined {
    return this.#accepted;
  }

  get state(): FollowedState {
    const content = this.#content;
    return content.kind === "missing"
      ? content
      : { ...content, error: this.#failure ?? this.#host.outage() };
  }

  close(): void {
    this.#expiry?.cancel();
    this.#host.onClose();
  }

  /** Applies a state of the server. Returns the reason why a watch rejects it. */
  put({ version, payload, ttlMs, noStore = false }: Resource): XdsError | undefined {
    const { typeUrl, follower } = this.#host;
    if (payload.typeUrl !== typeUrl)
      return new XdsError(
        "UNIMPLEMENTED",
        `it is a ${payload.typeUrl}, which a client over a WebSocket does not follow`,
      );
    const before = this.#content;
    const body =
      before.kind === "found" && equalBytes(before.body, payload.value)
        ? before.body
        : copyBytes(payload.value);
    const mediaType = "application/x-protobuf";
    this.#content = { kind: "found", version, body, mediaType, ttlMs, noStore };
    const error = follower.check(body);
    if (error === undefined) this.#accepted = version;
    this.refresh(ttlMs);
    this.changed();
    return error;
  }

  /** Starts the TTL again (C-TTL-3). */
  refresh(ttlMs: number | undefined): void {
    this.#expiry?.cancel();
    this.#expiry =
      ttlMs === undefined
        ? undefined
        : this.#host.clock.after(ttlMs, () => {
            this.#remove(`its TTL of ${ttlMs} ms has expired`);
          });
  }

  /** The server does not have the resource. */
  remove(error: XdsError | undefined): void {
    this.#remove("the server does not have it", error);
  }

  /** Sets the error of this name, or ends it. */
  fail(error: XdsError | undefined): void {
    // Each watch knows its own rejections; the others have accepted the state.
    this.#failure = error?.context.reason === "rejected" ? undefined : error;
    this.changed();
  }

  /** The server is connected, so what it has sent is current. */
  confirm(): void {
    if (this.#content.kind === "found" && this.state.error === undefined)
      this.#host.follower.onConfirmed();
  }

  /** Calls the follower after the present response, once for all its changes. */
  changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => {
      this.#isDue = false;
      this.#host.follower.onState(this.state);
    });
  }

  #remove(
    reason: string,
    error = new XdsError("NOT_FOUND", `${this.name}: ${reason}`, { resource: this.name }),
  ): void {
    this.#expiry?.cancel();
    this.#accepted = undefined;
    this.#failure = undefined;
    this.#content = { kind: "missing", error };
    this.changed();
  }
}
