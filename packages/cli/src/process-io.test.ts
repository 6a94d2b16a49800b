import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lookup } from "node:dns";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFileOutput, isThreadBusy } from "./process-io.ts";
import { useFolder } from "../test/use-folder.ts";

/** Creates a disk with space for a number of bytes. */
function useDisk(): {
  room: number;
  text: string;
  write: (descriptor: number, bytes: Uint8Array, offset: number) => number;
} {
  const disk = {
    room: 0,
    text: "",
    write: (_: number, bytes: Uint8Array, offset: number): number => {
      if (disk.room === 0) throw new Error("ENOSPC");
      const part = bytes.subarray(offset, offset + disk.room);
      disk.room -= part.length;
      disk.text += Buffer.from(part).toString();
      return part.length;
    },
  };
  return disk;
}

describe("createFileOutput()", () => {
  it("begins a new line after a disk has filled in the middle of one", () => {
    const disk = useDisk();
    const output = createFileOutput(1, disk.write);
    disk.room = 3;
    expect(() => {
      output.write("first\n");
    }).toThrow("ENOSPC");
    expect(() => {
      output.write("second\n");
    }).toThrow("ENOSPC");
    disk.room = 100;
    output.write("third\n");
    output.write("fourth\n");
    expect(disk.text).toBe("fir\nthird\nfourth\n");
  });

  it("leaves no empty line where a disk has filled between two lines", () => {
    const disk = useDisk();
    const output = createFileOutput(1, disk.write);
    disk.room = 2;
    expect(() => {
      output.write("a\nb\n");
    }).toThrow("ENOSPC");
    disk.room = 100;
    output.write("c\n");
    expect(disk.text).toBe("a\nc\n");
  });
});

describe("isThreadBusy()", () => {
  it("is true while the address of a name is looked up", async () => {
    const found = new Promise((resolve) => {
      lookup("localhost", resolve);
    });
    expect(isThreadBusy()).toBe(true);
    await found;
  });
});

describe("leaveProcess()", () => {
  it.runIf(process.platform === "linux").each([0, 1])(
    "ends with exit code %s while a thread waits for a file that never answers",
    async (code) => {
      const { dir } = useFolder();
      const fifo = join(dir, "fifo");
      execFileSync("mkfifo", [fifo]);
      const program = `
      import { open } from "node:fs/promises";
      import { leaveProcess } from ${JSON.stringify(new URL("process-io.ts", import.meta.url).href)};
      void open(${JSON.stringify(fifo)});
      process.exitCode = ${code};
      leaveProcess();
    `;
      const child = spawn(
        process.execPath,
        ["--conditions=@xdstp/source", "--input-type=module", "--eval", program],
        {
          stdio: ["ignore", "inherit", "pipe"],
        },
      );
      onTestFinished(() => {
        child.kill("SIGKILL");
      });
      let errors = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        errors += text;
      });
      expect(await once(child, "close")).toEqual([code, null]);
      expect(errors).toBe("");
    },
  );
});
