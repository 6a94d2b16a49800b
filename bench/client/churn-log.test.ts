import { describe, expect, test } from "vitest";
import { dueAt, indexOfChange, type ChurnPlan } from "../churn-plan.ts";
import { createChurnLog } from "./churn-log.ts";

/** Stamps 11 to 16 over three resources: one change each 100 ms from 1,000 on. */
const plan: ChurnPlan = { first: 11, count: 6, changesPerSecond: 10, resources: 3, begin: 1000 };

describe("createChurnLog()", () => {
  test("is done when every reader has the newest of each resource, and says when the last had it", async () => {
    const log = createChurnLog(plan, 2);
    for (const stamp of [11, 12, 13, 14, 15, 16])
      log.read(0, indexOfChange(plan, stamp), stamp, dueAt(plan, stamp) + 5);
    for (const stamp of [14, 15, 15]) log.read(1, indexOfChange(plan, stamp), stamp, 1700);
    const early = await Promise.race([log.done, Promise.resolve("not yet")]);
    log.read(1, indexOfChange(plan, 16), 16, 1800);
    expect(early).toBe("not yet");
    expect(await log.done).toMatchObject({ settledAt: 1800 });
  });

  test("counts a change that was superseded as read with the newer one", async () => {
    const log = createChurnLog({ ...plan, count: 4, resources: 1 }, 1);
    log.read(0, 0, 14, 1310);
    expect(await log.done).toEqual({ settledAt: 1310, p50: 210, p99: 310 });
  });

  test("leaves out what belongs to an earlier plan, and what came twice", async () => {
    const log = createChurnLog({ ...plan, count: 2, resources: 1 }, 1);
    log.read(0, 0, 10, 5000);
    log.read(0, 0, 11, 1020);
    log.read(0, 0, 11, 9000);
    log.read(0, 0, 12, 1110);
    expect(await log.done).toEqual({ settledAt: 1110, p50: 20, p99: 20 });
  });

  test("rejects once a client is lost", async () => {
    const log = createChurnLog(plan, 1);
    log.fail(new Error("lost"));
    await expect(log.done).rejects.toThrow("lost");
  });
});
