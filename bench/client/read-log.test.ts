import { describe, expect, test } from "vitest";
import { createReadLog } from "./read-log.ts";

describe("createReadLog()", () => {
  test("counts what came before it was asked, and waits for the rest", async () => {
    const log = createReadLog();
    log.add(10);
    const reads = log.take(2);
    log.add(5);
    expect(await reads).toMatchObject({ bytes: 15, at: { length: 2 } });
    log.add(1);
    expect(await log.take(1)).toMatchObject({ bytes: 1, at: { length: 1 } });
  });

  test("rejects where more came than was due: a push went out twice", async () => {
    const log = createReadLog();
    log.add(1);
    log.add(1);
    await expect(log.take(1)).rejects.toThrow("2 pushes came where 1 were due");
  });

  test("rejects whoever waits, or will wait, once a client is lost", async () => {
    const log = createReadLog();
    const reads = log.take(1);
    log.fail(new Error("lost"));
    await expect(reads).rejects.toThrow("lost");
    await expect(log.take(1)).rejects.toThrow("lost");
  });
});
