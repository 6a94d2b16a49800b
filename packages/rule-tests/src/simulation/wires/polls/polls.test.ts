import { testWorld } from "../test-world.ts";
import { failedSeeds } from "./failed-seeds.ts";
import { emptyOnFailure, goBack, loseAnswers, pollTwice } from "./polls-defects.ts";
import { pollsInvariants, pollsScenario } from "./polls-world.ts";

testWorld({
  clients: "clients that poll over REST, of an origin with replicas,",
  claim: {
    text: "never go back, lose nothing, and keep what they have while the origin is down",
    rules: "[S-REST-1] [S-REST-3] [S-REST-4] [C-REST-6] [C-REST-7]",
  },
  scenario: pollsScenario,
  failedSeeds,
  defects: [
    ["a process that goes back", goBack, pollsInvariants.neverBack],
    ["a failure that removes", emptyOnFailure, pollsInvariants.lastGoodState],
    ["a removal that is lost", loseAnswers, pollsInvariants.removalIsSeen],
    ["a change that is lost", loseAnswers, pollsInvariants.nothingIsLost],
    ["a poll that is sent twice", pollTwice, pollsInvariants.onePoll],
  ],
});
