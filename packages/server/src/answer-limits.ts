/** How many answers to single calls are made at once (S-LIM-1), to each principal in turn: whom the certificate names, and an IP address where there is none. Streams do not count here. */
export interface AnswerLimits {
  /** Answers to status requests that are made at the same time. Default: 2. Others wait their turn. */
  readonly statusAnswers: number;
  /** Answers to Fetches that are made at the same time, once what they ask for is settled. Default: 4. Others wait their turn. */
  readonly fetchAnswers: number;
  /** Calls of each of these two kinds that may wait for it. Then one of whoever has most of them waiting gets RESOURCE_EXHAUSTED. Default: 1,000. Room: 1,000 pollers at the same moment, each with one call. */
  readonly waitingAnswers: number;
}

/** The defaults of {@link AnswerLimits}. */
export const defaultAnswerLimits: AnswerLimits = {
  statusAnswers: 2,
  fetchAnswers: 4,
  waitingAnswers: 1_000,
};
