import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { fileTrouble } from "./folder-problem.ts";
import { readBytes } from "./file-parser.ts";

describe("readBytes()", () => {
  it("rejects a file without a size whose reader would wait for more data, such as /proc/kmsg", async () => {
    const { dir } = await useFolder({});
    const path = join(dir, "endless");
    execFileSync("mkfifo", [path]);
    // The FIFO is opened for reading and writing, so that it has a writer.
    const writer = await open(path, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => writer.close());
    await writer.write("6,339,5140900,-;");
    const error: unknown = await readBytes(path, 0, (_, run) => run()).catch(
      (thrown: unknown) => thrown,
    );
    expect(fileTrouble(error)).toEqual({
      code: "unreadable-file",
      message: "never ends, so it is not a file of configuration (EAGAIN)",
      hint: "remove it, or begin its name with a dot",
    });
  });
});
