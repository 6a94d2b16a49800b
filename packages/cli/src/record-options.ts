import type { AskFlags } from "./ask-flags.ts";
import type { AskedName } from "./asked-name.ts";

/** What `xdstp record` was asked to do. */
export interface RecordOptions {
  readonly file: string;
  readonly asked: readonly AskedName[];
  readonly ask: AskFlags;
  /** Secrets are left out. */
  readonly redact: boolean;
  readonly json: boolean;
  /** Ends after this number of responses. */
  readonly count?: number;
  /** Ends after this number of milliseconds. */
  readonly timeoutMs?: number;
}
