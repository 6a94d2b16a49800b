import type { BenchCase } from "../bench-case.ts";
import { clientCase } from "./client.ts";
import { churns } from "./churn.ts";
import { collectionCase, largeCollectionCase } from "./collection.ts";
import { fanOutCase, fanOuts } from "./fan-out.ts";
import { interestCase } from "./interest.ts";
import { longPollsCase } from "./long-polls.ts";
import { namesCase } from "./names.ts";
import { relayCase } from "./relay.ts";
import { restPollsCase } from "./rest-polls.ts";
import { storms } from "./storm.ts";

/** Everything the bench can run, in the order of the table. */
export const allCases: readonly BenchCase[] = [
  ...fanOuts.map(fanOutCase),
  ...storms,
  ...churns,
  collectionCase,
  largeCollectionCase,
  interestCase,
  clientCase,
  relayCase,
  longPollsCase,
  restPollsCase,
  namesCase,
];
