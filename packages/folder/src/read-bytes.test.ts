import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { fileTrouble } from "./file-trouble.ts";
import { readBytes } from "./file-parser.ts";

describe("readBytes()", () => {
  it("rejects a file that states no size and waits for more, as /proc/kmsg does, instead of waiting with it", async () => {
    const { dir } = await useFolder({});
    const path = join(dir, "endless");
    execFileSync("mkfifo", [path]);
    // Opened for both, so that a writer is there.
    const writer = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => writer.close());
    await writer.write("6,339,5140900,-;");
    const error: unknown = await readBytes(path, 0, (_, run) => run()).catch(
      (thrown: unknown) => thrown,
    );
    expect(fileTrouble(error)).toEqual({
      message: "never ends, so it is not a file of configuration (EAGAIN)",
      hint: "remove it, or begin its name with a dot",
    });
  });
});
