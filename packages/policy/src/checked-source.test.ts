import { createCache } from "@xdstp/cache";
import { checkSource } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { filterSource } from "./filter-source.ts";
import { createPolicy } from "./policy.ts";

describe("The filter of a policy as a source:", () => {
  it.each(
    checkSource(() => {
      const cache = createCache();
      cache.put({
        typeUrl: "type.googleapis.com/xdstp.check.Thing",
        name: "xdstp://check/xdstp.check.Thing/p/secret",
        value: Buffer.of(1),
      });
      const policy = createPolicy({ key: "k", allows: (_type, name) => !name.endsWith("secret") });
      const source = filterSource(cache, policy);
      return {
        source,
        commit: (transaction) => cache.commit(transaction),
        unavailable: (typeUrl, error) => {
          cache.unavailable({ typeUrl }, error);
        },
        close: async () => {
          source.close();
          await cache.close();
        },
      };
    }),
  )("$title", async ({ check }) => {
    expect(await check()).toEqual({ kind: "passed" });
  });
});
