import { appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "@xdstp/core";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { useFeed } from "../test/use-feed.ts";
import { useFolder } from "../test/use-folder.ts";
import { waitFor } from "../test/wait-for.ts";
import { filesInWriting } from "./files-in-writing.ts";
import type { WatchDirectory } from "./folder-watch.ts";
import { createPatience } from "./pacing.ts";
import { walkFolder } from "./walk-folder.ts";

const message = "is being written, and has not been left alone for 100 ms";

describe("filesInWriting()", () => {
  it("finds what was changed in place since it was listed, and not what was replaced or removed", async () => {
    const paths = ["same", "written", "replaced", "removed"].map((id) => `a/clusters/${id}.yaml`);
    const folder = await useFolder(Object.fromEntries(paths.map((path) => [path, "{}"])));
    const patience = createPatience(systemClock);
    const { files } = await walkFolder(folder.dir, () => Promise.resolve(), patience);
    appendFileSync(join(folder.dir, "a/clusters/written.yaml"), "\n");
    await folder.write({ "a/clusters/new.tmp": "{ }" });
    await folder.move("a/clusters/new.tmp", "a/clusters/replaced.yaml");
    await folder.remove("a/clusters/removed.yaml");
    expect(await filesInWriting(folder.dir, files, patience)).toMatchObject([
      { file: join(folder.dir, "a/clusters/written.yaml"), message },
    ]);
  });
});

describe("createFolderFeed() while a file is written", () => {
  it("keeps the last state where that takes longer than a burst, and loads the file once it is left alone", async () => {
    const { dir } = await useFolder({ "a/clusters/x.yaml": "type: STATIC\n" });
    const file = join(dir, "a/clusters/x.yaml");
    const clock = createFakeClock();
    let touch = (): void => undefined;
    const watch: WatchDirectory = (directory, listener) => {
      if (directory === dirname(file))
        touch = () => {
          listener("change", "x.yaml");
        };
      return { on: () => undefined, close: () => undefined };
    };
    const { next, sink } = useFeed({ dir, clock, watch });
    await next("loaded");
    // The directories above were read before they were watched, so they are read again.
    await waitFor(() => clock.pending === 2);
    clock.advance(100);
    await waitFor(() => clock.pending === 0);
    await waitFor(() => clock.pending === 1);
    appendFileSync(file, "connect_timeout: 1s\n");
    for (let ms = 0; ms < 2_000; ms += 50) {
      touch();
      clock.advance(50);
    }
    await waitFor(() => clock.pending > 0);
    appendFileSync(file, "lb_policy: RANDOM\n");
    clock.advance(100);
    expect(await next("rejected")).toMatchObject({ serving: true, problems: [{ file, message }] });
    touch();
    clock.advance(100);
    expect(await next("loaded")).toMatchObject({ put: 1 });
    expect(sink.transactions).toHaveLength(2);
  });

  it("does not commit what was read of a file that changed under the reading", async () => {
    const { dir } = await useFolder({ "a/clusters/x.yaml": "type: STATIC\n" });
    let write = (): void => {
      appendFileSync(join(dir, "a/clusters/x.yaml"), "connect_timeout: 1s\n");
    };
    // `nameField` is read after a file was read, so this write happens during the reading.
    const types = envoyTypes.map((type) =>
      Object.defineProperty({ ...type }, "nameField", {
        enumerable: true,
        get() {
          write();
          write = () => undefined;
          return type.nameField;
        },
      }),
    );
    const { next, sink } = useFeed({ dir, types });
    await next("loaded");
    // 0x22 is the tag of `connect_timeout`, which is field 4.
    expect(sink.transactions[0]?.put?.[0]?.resource.payload.value.includes(0x22)).toBe(true);
  });
});
