import { XdsError } from "@xdstp/core";
import { expect } from "vitest";
import { FULL, PART } from "../harness/made-up-types.ts";
import { runCases } from "../harness/rule-case.ts";

runCases(
  "wakes without news",
  [FULL, PART].map((typeUrl) => ({
    rules: ["S-ACK-8"],
    title: `do not send again what was rejected of ${typeUrl === FULL ? "a full-state" : "another"} type, when the supply breaks and comes back`,
    run(world) {
      world.put(typeUrl, "a", "1");
      const client = world.connect().of(typeUrl);
      client.subscribe("a");
      world.run();
      const rejected = client.next();
      world.cache.unavailable({}, new XdsError("UNAVAILABLE", "broken before the answer"));
      client.nack(rejected, "bad");
      world.cache.unavailable({}, undefined);
      world.run();
      expect(client.rest()).toEqual([]);
      world.put(typeUrl, "a", "2");
      world.run();
      expect(client.next().names).toEqual(["a"]);
    },
  })),
);
