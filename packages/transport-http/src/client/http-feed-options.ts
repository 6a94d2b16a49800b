import type { Registry } from "@bufbuild/protobuf";
import type { XdsError } from "@xdstp/core";

import type { FollowOptions } from "./follow-resource.ts";
import type { OriginOf } from "./url-of-name.ts";

/** Options of `createHttpFeed`. All are optional. */
export interface HttpFeedOptions extends Pick<
  FollowOptions,
  "events" | "headers" | "refreshMs" | "answerMs" | "answerBytes" | "fetch" | "clock" | "random"
> {
  /**
   * Returns the origin of the server for an authority, decoded; null: opaque names. undefined: these
   * names cannot be requested. Default: `https://AUTHORITY`, and none for opaque names.
   */
  readonly origin?: OriginOf;
  /** The types of resources that a server sends as JSON. Default: protobuf only. */
  readonly registry?: Registry;
  /**
   * The number of names that are followed by long polls or events, each of which keeps a request
   * open; the names after these are requested every `refreshMs`. Default 256.
   */
  readonly longPolls?: number;
  /** The number of names that wait for their first answer at the same time. Default 64. */
  readonly starting?: number;
  /**
   * Called with each resource that cannot be read, or that the sink rejects. The server does not
   * learn of it (B-HTTP-12). It must not throw. Default: no listener.
   */
  readonly onRejected?: (error: XdsError) => void;
}
