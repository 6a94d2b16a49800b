import type { CredentialsEvent } from "@xdstp/bootstrap";
import type { ClientEvent } from "@xdstp/protocol/client";

/** What a client tells of: what happens on its streams, and to its certificates; `server` is the URI. */
export type ClientNotice = { readonly server: string } & (ClientEvent | CredentialsEvent);
