import type { ResourceSink } from "@xdstp/core";
import type { ClientContext } from "./client-context.ts";
import type { ClientCounts } from "./client-status.ts";
import type { RejectionPace } from "./rejection-pace.ts";
import type { Answer, ClientVariant, Subscriptions } from "./variant.ts";
import type { Want } from "./want.ts";
import type { Wants } from "./wants.ts";

/** What a type asks of the client end it is part of. */
export interface ClientTypeHost {
  readonly context: ClientContext;
  readonly variant: ClientVariant;
  readonly sink: ResourceSink;
  /** The type has something to say: it is asked for its request when the turn is over. */
  schedule(): void;
  count(what: keyof ClientCounts, by: number): void;
  /** The stream has stood for as long as an answer may take (C-MISS-4). */
  waited(): void;
}

/** One type of a client end. */
export interface ClientTypeState {
  readonly host: ClientTypeHost;
  readonly typeUrl: string;
  readonly wants: Wants;
  readonly subscriptions: Subscriptions;
  /** Wanted and not yet in a request of this stream. */
  readonly unasked: Set<Want>;
  /** Of the response that was accepted last; it outlives a stream (C-VER-6). */
  version: string;
  /** Something that came has a TTL, so what is held may be less than the version stands for (S-RECON-7). */
  expires: boolean;
  /** Of the last response on this stream. */
  nonce: string;
  /** The last response was a trial (B-VER-8). */
  canary: boolean;
  /** When the stream began, by `Clock.now()`. */
  begunAt: number;
  /** To responses, until they are sent; more than one only while they have to wait. */
  answers: Answer[];
  readonly pace: RejectionPace;
}
