import { describe, expect, it } from "vitest";
import { bindCase, type ContractCase } from "./contract-case.ts";

function caseThat(check: () => Promise<string | undefined>): ContractCase {
  return bindCase<undefined>({ name: "it works", rules: ["S-X-1"], check }, (call) =>
    call(undefined),
  );
}

const passes = caseThat(() => Promise.resolve(undefined));
const fails = caseThat(() => Promise.reject(new Error("it does not")));
const skips = caseThat(() => Promise.resolve("the wire cannot probe"));

describe("a case of a contract", () => {
  it("says that it has passed, failed or was skipped", async () => {
    expect(await passes.check()).toEqual({ kind: "passed" });
    expect(await fails.check()).toEqual({ kind: "failed", error: new Error("it does not") });
    expect(await skips.check()).toEqual({ kind: "skipped", reason: "the wire cannot probe" });
  });

  it("skips the test of a runner, with the reason", async () => {
    const reasons: string[] = [];
    const test = {
      skip: (reason: string) => {
        reasons.push(reason);
      },
    };
    await passes.run(test);
    await expect(fails.run(test)).rejects.toThrow("it does not");
    await skips.run(test);
    expect(reasons).toEqual(["the wire cannot probe"]);
  });

  it("fails the test of a runner that cannot skip it", async () => {
    await expect(skips.run()).rejects.toThrow(
      'the case was skipped: the wire cannot probe; pass a context with "skip", or call check()',
    );
  });

  it("is a test without a parameter, which Jest would wait for", () => {
    expect(passes.run.length).toBe(0);
  });
});
