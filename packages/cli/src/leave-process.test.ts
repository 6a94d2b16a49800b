import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { lookup } from "node:dns";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { isThreadBusy } from "./leave-process.ts";

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
      import { leaveProcess } from ${JSON.stringify(new URL("leave-process.ts", import.meta.url).href)};
      void open(${JSON.stringify(fifo)});
      process.exitCode = ${code};
      leaveProcess();
    `;
      const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
        stdio: ["ignore", "inherit", "pipe"],
      });
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
