import { testWorld } from "../test-world.ts";
import { failedSeeds } from "./failed-seeds.ts";
import {
  dropOnFailure,
  forgetOrder,
  keepRemoved,
  loseChanges,
  pollTwice,
  pollWithoutPause,
} from "./http-defects.ts";
import { httpInvariants, httpScenario } from "./http-world.ts";

testWorld({
  clients: "clients of native HTTP behind caches, of an origin with replicas,",
  claim: {
    text: "never go back, lose nothing, and keep what they have while the origin is down",
    rules: "[S-HTTP-9] [S-HTTP-14] [C-HTTP-7] [C-HTTP-11] [B-HTTP-8]",
  },
  scenario: httpScenario,
  failedSeeds,
  defects: [
    ["answers without an order", forgetOrder, httpInvariants.neverBack],
    ["a failure that removes", dropOnFailure, httpInvariants.lastGoodState],
    ["a removal that is a failure", keepRemoved, httpInvariants.removalIsSeen],
    ["a change that is lost", loseChanges, httpInvariants.nothingIsLost],
    ["a poll that is sent twice", pollTwice, httpInvariants.onePoll],
    ["a poll without a pause", pollWithoutPause, httpInvariants.pace],
  ],
});
