import { expect, it, vi } from "vitest";

import { useDir } from "../test/snapshots.ts";
import { openSnapshot } from "./open-snapshot.ts";

it("a Node without SQLite is an error that says which Node to use", () => {
  vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  expect(() => openSnapshot({ dir: useDir() })).toThrow(
    `a snapshot on disk needs node:sqlite, and Node ${process.versions.node} does not have it; run the relay with Node 22.13 or newer, or without a snapshot`,
  );
});
