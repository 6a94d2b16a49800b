import { defaultAnswerLimits, type AnswerLimits } from "./answer-limits.ts";
import { createAnswerLine, type AnswerLine, type AnswerLineStats } from "./answer-line.ts";

/** The lines of one server. */
export interface AnswerLines {
  readonly status: AnswerLine;
  readonly fetch: AnswerLine;
  stats(): { readonly status: AnswerLineStats; readonly fetch: AnswerLineStats };
}

/** Empty queues. */
export function createAnswerLines(limits: Partial<AnswerLimits>): AnswerLines {
  const {
    statusAnswers,
    fetchAnswers,
    waitingAnswers: waiting,
  } = { ...defaultAnswerLimits, ...limits };
  const status = createAnswerLine({ atOnce: statusAnswers, waiting });
  const fetch = createAnswerLine({ atOnce: fetchAnswers, waiting });
  return { status, fetch, stats: () => ({ status: status.stats(), fetch: fetch.stats() }) };
}
