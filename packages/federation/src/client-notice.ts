import type { CredentialsEvent } from "@xdstp/bootstrap";
import type { ClientEvent } from "@xdstp/protocol/client";

/** What a client tells of: what happens on its streams, and to its certificates; `server` is the URI, `variant` the protocol variant of its streams there. Two configured servers may have one URI and differ in the variant. */
export type ClientNotice = {
  readonly server: string;
  readonly variant: "delta" | "sotw";
} & (ClientEvent | CredentialsEvent);
