import type { RelayOptions } from "@xdstp/relay";
import type { AskFlags } from "./ask-flags.ts";
import type { ServerFlags } from "./server-flags.ts";

/** What `xdstp relay` was asked to do. It is plain data. */
export interface RelayCall extends ServerFlags {
  /** Whom it asks, and as whom. */
  readonly ask: AskFlags;
  /** Options of the relay itself. */
  readonly relay: Pick<RelayOptions, "follow" | "lingerMs" | "opaqueKey" | "quorum">;
  /** Where what upstream has said is kept. Absent: in memory only. */
  readonly snapshot?: { readonly dir: string; readonly keyFile?: string };
}
