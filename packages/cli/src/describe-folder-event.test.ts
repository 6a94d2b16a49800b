import { expect, it } from "vitest";
import { keptText } from "./describe-folder-event.ts";

it("says of a volume that was unmounted from over other content what is served, and the way out", () => {
  const event = { directory: "/conf/a", message: "", held: 3, lost: 1 };
  expect(keptText({ ...event, reason: "unmounted" })).toBe(
    "the volume at /conf/a is no longer mounted, and the directory under it has other content: 1 of 3 resources are missing; the last state is still served. Mount it again; if the directory is meant, restart",
  );
});
