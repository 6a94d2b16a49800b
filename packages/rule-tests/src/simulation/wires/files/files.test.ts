import { testWorld } from "../test-world.ts";
import { failedSeeds } from "./failed-seeds.ts";
import {
  leaveOpen,
  missChanges,
  readMixedFiles,
  readOldFiles,
  writeInPlace,
} from "./file-defects.ts";
import { filesInvariants, filesScenario } from "./file-world.ts";

testWorld({
  clients: "readers of files that are exported, of a volume, and of files with one resource",
  claim: {
    text: "never go back, lose nothing, and show states of whole files only",
    rules: "[C-FILE-2] [C-FILE-3] [C-FILE-4] [C-FILE-5] [B-FILE-6] [C-NFILE-5] [C-NFILE-8]",
  },
  scenario: filesScenario,
  failedSeeds,
  defects: [
    ["a reading of an old file", readOldFiles, filesInvariants.neverBack],
    ["a reading of two files", readMixedFiles, filesInvariants.lastGoodState],
    ["a removal that is missed", missChanges, filesInvariants.removalIsSeen],
    ["a change that is missed", missChanges, filesInvariants.nothingIsLost],
    ["a file that is written in its place", writeInPlace, filesInvariants.whole],
    ["a file that stays open", leaveOpen, filesInvariants.closed],
  ],
});
