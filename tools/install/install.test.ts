import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { lockFolder, withLock } from "./lock.mjs";
import { findRuntime } from "./runtime.mjs";
import { inputsOf } from "./stamp.mjs";

function useCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-install-test-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  mkdirSync(join(folder, "packages", "a"), { recursive: true });
  for (const file of ["package.json", "pnpm-lock.yaml", "packages/a/package.json"])
    writeFileSync(join(folder, file), "1");
  return folder;
}

describe("inputsOf()", () => {
  it.each(["package.json", "pnpm-lock.yaml", "packages/a/package.json"])(
    "changes with %s",
    (file) => {
      const checkout = useCheckout();
      const before = inputsOf(checkout);
      expect(inputsOf(checkout)).toBe(before);
      writeFileSync(join(checkout, file), "2");
      expect(inputsOf(checkout)).not.toBe(before);
    },
  );

  it("changes when a package comes, and not with its sources", () => {
    const checkout = useCheckout();
    const before = inputsOf(checkout);
    writeFileSync(join(checkout, "packages/a/source.ts"), "");
    expect(inputsOf(checkout)).toBe(before);
    mkdirSync(join(checkout, "packages/b"));
    writeFileSync(join(checkout, "packages/b/package.json"), "1");
    expect(inputsOf(checkout)).not.toBe(before);
  });
});

describe("withLock()", () => {
  it("waits while another process holds it, and goes on when that one has let go", async () => {
    const checkout = useCheckout();
    mkdirSync(lockFolder(checkout));
    writeFileSync(join(lockFolder(checkout), "pid"), String(process.pid));
    const script = `import { withLock } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, "lock.mjs")).href)}; withLock(${JSON.stringify(checkout)}, () => { console.log("held"); });`;
    const other = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    other.stdout.on("data", (chunk: Buffer) => {
      said.push(chunk.toString());
    });
    await once(other.stderr, "data");
    expect(said).toEqual([]);
    rmSync(lockFolder(checkout), { recursive: true });
    await once(other, "close");
    expect(said).toEqual(["held\n"]);
  });

  it("is let go when the work throws", () => {
    const checkout = useCheckout();
    expect(() => {
      withLock(checkout, () => {
        throw new Error("broken");
      });
    }).toThrow("broken");
    expect(withLock(checkout, () => "done")).toBe("done");
  });

  it("takes over the lock of a process that has died", async () => {
    const checkout = useCheckout();
    const dead = spawn(process.execPath, ["--eval", ""]);
    await once(dead, "close");
    mkdirSync(lockFolder(checkout));
    writeFileSync(join(lockFolder(checkout), "pid"), String(dead.pid));
    expect(withLock(checkout, () => "done")).toBe("done");
  });
});

describe("findRuntime()", () => {
  it("takes the Node of the machine where there is no package for it", () => {
    expect(findRuntime("/nowhere", "plan9 mips").node).toBe(process.execPath);
  });
});
