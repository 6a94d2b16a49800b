import { checkSource } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createStageWorld } from "../test/stage-world.ts";
import { readerView } from "./client-topic.ts";

describe("The view of a client that a rollout has not begun with, as a source:", () => {
  it.each(
    checkSource(() => {
      const world = createStageWorld({ clients: 1 });
      const [sink] = world.sinks;
      return {
        source: readerView(world.quorum.source, "a"),
        // No client votes, so the change is for all clients after the time of a vote.
        commit: async (transaction) => {
          void sink?.commit(transaction);
          await world.pass(20_000);
        },
        unavailable: (typeUrl, error) => {
          sink?.unavailable({ typeUrl }, error);
        },
      };
    }),
  )("$title", async ({ check }) => {
    expect(await check()).toEqual({ kind: "passed" });
  });
});
