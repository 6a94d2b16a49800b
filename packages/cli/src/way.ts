import type { AskClient, shownType } from "./ask-client.ts";
import type { GetOptions } from "./get-options.ts";

/** One question. */
export interface Way {
  readonly asking: AskClient;
  readonly type: ReturnType<typeof shownType>;
  readonly options: GetOptions;
  readonly signal: AbortSignal;
}
