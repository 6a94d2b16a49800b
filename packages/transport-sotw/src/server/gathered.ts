import type { Entry } from "@xdstp/core";
import type { Gathered as Response } from "@xdstp/protocol/server";

/** What is pending on a type, taken as of now. */
export interface Gathered extends Response {
  /** The entries that are new or changed: names that wait for them are sent again (S-WARM-1). */
  readonly fresh: readonly Entry[];
  /** Of all that the client has with it: the content version is made of it (S-VER-3). undefined: it is a full state. */
  readonly hash: number | undefined;
  /** The `version_info`. */
  readonly version: string;
  /** Something is new to this client, so that a response is due even if it holds the same version, or none at all. */
  readonly due: boolean;
}
