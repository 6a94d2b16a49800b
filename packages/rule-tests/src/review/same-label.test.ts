import { expect } from "vitest";
import { FULL } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";

runCases("an author's label", [
  {
    rules: ["S-FULL-1"],
    title: "that stays the same does not hide a change",
    variants: ["sotw/ads", "sotw/per-type"],
    run(world) {
      const put = (version: string): void => {
        world.cache.commit({
          label: "release",
          put: [
            {
              typeUrl: FULL,
              resource: {
                name: "a",
                version,
                payload: { typeUrl: FULL, value: new TextEncoder().encode(version) },
              },
            },
          ],
        });
      };
      put("1");
      const client = world.connect().of(FULL);
      client.subscribe("*");
      world.run();
      const first = client.next();
      expect(first.version).toBe("release");
      client.ack(first);
      put("2");
      world.run();
      const second = client.next();
      expect(second.version).toBe("release");
      expect(second.resources).not.toEqual(first.resources);
    },
  },
]);
