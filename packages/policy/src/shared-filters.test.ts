import { createCache } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { createPolicy, type Policy } from "./policy.ts";
import { createSharedFilters } from "./shared-filters.ts";

const typeUrl = "type.googleapis.com/acme.v1.Flag";

describe("createSharedFilters()", () => {
  it("gives one filter for each source and key, until its last lease is released [S-LIM-8]", () => {
    const filters = createSharedFilters({ clock: createFakeClock() });
    const [source, other] = [createCache(), createCache()];
    const watched: string[] = [];
    const policyOf = (key: string): Policy => ({
      key,
      allows: () => true,
      watch: () => {
        watched.push(key);
        return () => watched.splice(watched.indexOf(key), 1);
      },
    });
    const [first, second] = [policyOf("a"), policyOf("a")].map((one) =>
      filters.acquire(source, one),
    );
    expect(second?.source).toBe(first?.source);
    expect(filters.acquire(source, policyOf("b")).source).not.toBe(first?.source);
    expect(filters.acquire(other, policyOf("a")).source).not.toBe(first?.source);
    expect(watched).toEqual(["a", "b", "a"]);
    first?.release();
    expect(filters.acquire(source, policyOf("a")).source).toBe(second?.source);
    second?.release();
    expect(watched).toEqual(["a", "b", "a"]);
  });

  it("ends its subscription to a policy with the last lease, and asks the next policy with that key [S-LIM-8]", () => {
    const filters = createSharedFilters({ clock: createFakeClock() });
    const source = createCache();
    const policy = createPolicy({ key: "a", allows: () => false });
    const lease = filters.acquire(source, policy);
    let changes = 0;
    lease.source.onChange(() => changes++);
    policy.replace(() => false);
    lease.release();
    policy.replace(() => true);
    expect(changes).toBe(1);
    const next = filters.acquire(source, createPolicy({ key: "a", allows: () => true }));
    expect(next.source).not.toBe(lease.source);
    expect(next.source.allows(typeUrl, "x")).toBe(true);
  });

  it("says whether a name may be seen now, in any spelling; what throws forbids and is reported once [S-LIM-8] [N-40]", () => {
    const faults: unknown[] = [];
    const filters = createSharedFilters({
      clock: createFakeClock(),
      onFault: (error) => faults.push(error),
    });
    const name = "xdstp://a/acme.v1.Flag/x?b=2&a=1";
    const policy = createPolicy({
      key: "a",
      allows: (_, asked) => asked === "xdstp://a/acme.v1.Flag/x?a=1&b=2",
    });
    const { source } = filters.acquire(createCache(), policy);
    expect([source.allows(typeUrl, name), source.allows(typeUrl, "y")]).toEqual([true, false]);
    policy.replace(() => {
      throw new Error("broken");
    });
    expect([source.allows(typeUrl, name), source.allows(typeUrl, name)]).toEqual([false, false]);
    expect(faults).toHaveLength(1);
  });
});
