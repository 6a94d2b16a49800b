import { expect, it } from "vitest";

import { missedText } from "./missed-text.ts";

const typeUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

it.each([
  [[], ""],
  [[{ typeUrl, name: "a", served: false }], "refers to Cluster a, which is not served"],
  [
    [{ typeUrl: "t/base", name: "a", served: true }],
    "refers to base a, which the client has not accepted",
  ],
  [
    [
      { typeUrl, name: "a", served: false },
      { typeUrl, name: "b", served: true },
      { typeUrl, name: "c", served: true },
    ],
    "refers to Cluster a, which is not served (and 2 more)",
  ],
])("missedText(%j) is %j [S-ACK-21]", (missed, text) => {
  expect(missedText(missed)).toBe(text);
});
