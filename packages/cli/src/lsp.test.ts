import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

describe("xdstp lsp", () => {
  it("answers an editor, reports what is wrong in the folder, and ends with it", async () => {
    const { dir } = useFolder({ "mesh/_opaque/clusters/web.yaml": "typ: EDS\n" });
    const bin = join(import.meta.dirname, "bin.ts");
    const server = spawn(
      process.execPath,
      ["--conditions=@xdstp/source", bin, "lsp", join(dir, "mesh")],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    const exited = once(server, "exit");
    const send = (message: object): void => {
      const text = JSON.stringify({ jsonrpc: "2.0", ...message });
      server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
    };
    send({ id: 1, method: "initialize", params: { processId: null, capabilities: {} } });
    send({ method: "initialized", params: {} });
    let output = "";
    await new Promise<void>((resolve) => {
      server.stdout.on("data", (chunk) => {
        output += String(chunk);
        if (output.includes("publishDiagnostics") && output.includes("did you mean type?"))
          resolve();
      });
    });
    expect(output).toContain('"renameProvider"');
    send({ id: 2, method: "shutdown" });
    send({ method: "exit" });
    expect(await exited).toEqual([0, null]);
  });

  it("ends with an error where a message has no length", async () => {
    const bin = join(import.meta.dirname, "bin.ts");
    const server = spawn(process.execPath, ["--conditions=@xdstp/source", bin, "lsp"], {
      stdio: ["pipe", "ignore", "pipe"],
    });
    let errors = "";
    server.stderr.on("data", (chunk) => {
      errors += String(chunk);
    });
    server.stdin.write("Length: 2\r\n\r\n{}"); // The input stays open.
    const [code] = (await once(server, "close")) as [number];
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringContaining(
        "the input is not of the Language Server Protocol: Header must provide a Content-Length property.",
      ) as string,
    });
  });

  it("says what is wrong with its call", async () => {
    expect(await runToEnd(["lsp", "a", "b"])).toMatchObject({ code: 2, out: "" });
    expect(await runToEnd(["lsp", "--descriptors", "nothing.binpb"])).toMatchObject({ code: 1 });
  });
});
