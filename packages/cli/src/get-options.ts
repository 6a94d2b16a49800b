import type { AskFlags } from "./ask-flags.ts";
import type { AskedName } from "./asked-name.ts";

/** What `xdstp get` was asked to do. */
export interface GetOptions {
  readonly asked: AskedName;
  readonly ask: AskFlags;
  readonly output: "yaml" | "json" | "table";
  readonly showSecrets: boolean;
  /** Files with descriptor sets. */
  readonly descriptors: readonly string[];
  readonly timeoutMs: number;
  /** Members of a collection that are shown at most; where there are more, that is an error. */
  readonly maxMembers: number;
}
