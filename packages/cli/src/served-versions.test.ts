import { createNodeCaches } from "@xdstp/cache";
import { createFakeClock } from "@xdstp/testing";
import { expect, it } from "vitest";
import { mostViews, nodeVersions } from "./served-versions.ts";

const typeUrl = "type.googleapis.com/own.Flag";

it("shows a hundred views in alphabetical order, and the number of the others", async () => {
  await using nodes = createNodeCaches({ keyOf: () => undefined, clock: createFakeClock() });
  for (let at = mostViews + 20; at > 0; at--)
    nodes
      .of(`k${String(at).padStart(3, "0")}`)
      .put({ typeUrl, name: "a", value: new Uint8Array([at % 200]) });
  const { shared, views, moreViews } = nodeVersions(nodes, [typeUrl]);
  expect([shared, moreViews, Object.keys(views).length]).toEqual([{}, 20, mostViews]);
  expect([Object.keys(views)[0], Object.keys(views).at(-1)]).toEqual(["k001", "k100"]);
  expect(views.k001?.[typeUrl]).not.toBe(views.k002?.[typeUrl]);
});
