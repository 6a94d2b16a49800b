import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, vi } from "vitest";
import { openDeltaStream } from "../test/grpc-stream.ts";
import { useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

/** A file system that rejects one folder for every user. Permissions would not apply to root. */
const rejected = vi.hoisted<{ dir?: string }>(() => ({}));
vi.mock(import("node:fs/promises"), async (original) => {
  const actual = await original();
  const readdir = async (...args: Parameters<typeof actual.readdir>) => {
    if (args[0] === rejected.dir)
      throw Object.assign(new Error("EACCES: permission denied, scandir"), { code: "EACCES" });
    return actual.readdir(...args);
  };
  return { ...actual, readdir: readdir as unknown as typeof actual.readdir };
});

describe("xdstp serve, a folder that cannot be read", () => {
  it("runs, is not ready and says why, and is ready as soon as the folder can be read [S-STREAM-9]", async () => {
    const { dir } = useFolder({ "a.example/clusters/web.yaml": "type: STATIC\n" });
    rejected.dir = dir;
    const clock = createFakeClock();
    const { stdout, port } = useCli(["serve", dir, "--listen", "127.0.0.1:0"], { clock });
    const number = await port();
    expect(await stdout.line(/not ready/)).toContain(
      `${dir}: may not be read by this user (EACCES) (give it the right to; it is tried again every second); new streams are rejected until then`,
    );
    const early = await openDeltaStream(number, "early");
    expect(await early.status).toBe(14);
    early.close();
    delete rejected.dir;
    clock.advance(1_000);
    expect(await stdout.line(/Z loaded /)).toContain("1 resource from 1 file");
    expect(stdout.text).toMatch(/Z ready /);
  });
});
