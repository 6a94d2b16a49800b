import { describe, expect, it } from "vitest";
import { parseMeshArguments } from "./mesh-arguments.ts";

describe("parseMeshArguments()", () => {
  it("takes free ports unless told otherwise", () => {
    expect(parseMeshArguments([])).toEqual({ once: false, help: false, port: 0, edgePort: 0 });
  });

  it("reads every option", () => {
    expect(parseMeshArguments(["--once", "--port", "18000", "--edge-port=10000", "-h"])).toEqual({
      once: true,
      help: true,
      port: 18000,
      edgePort: 10000,
    });
  });

  it.each([
    [["--port", "x"]],
    [["--port", "65536"]],
    [["--edge-port="]],
    [["--port", "-1"]],
    [["--twice"]],
    [["extra"]],
  ])("rejects %j, and names what is wrong", (args) => {
    const bad = args[0]?.split("=")[0] ?? "";
    expect(() => parseMeshArguments(args)).toThrow(bad);
  });
});
