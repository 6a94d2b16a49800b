import { describe, expect, it, onTestFinished } from "vitest";
import { createCache } from "@xdstp/cache";
import { nodeWarning } from "@xdstp/grpc/server";
import { createServer, type ServerEvent } from "./index.ts";

describe("a server on an old Node", () => {
  it.each([
    ["24.22.2", 1],
    ["24.22.3", 0],
  ])(
    "of version %s warns so many times as it begins to listen, and serves: %d",
    async (nodeVersion, times) => {
      const events: ServerEvent[] = [];
      const server = createServer({
        source: createCache(),
        nodeVersion,
        onEvent: (event) => {
          events.push(event);
        },
      });
      expect(events).toEqual([]);
      const { port } = await server.listen({ port: 0 });
      expect(port).toBeGreaterThan(0);
      expect(events).toEqual(
        Array.from({ length: times }, () => ({
          kind: "warning",
          warning: "node-version",
          message: nodeWarning(nodeVersion),
        })),
      );
      await server.close();
      expect(events.filter(({ kind }) => kind === "warning")).toHaveLength(times);
    },
  );

  it("is not created on one that is too old, which is said in words", () => {
    const { versions } = process;
    const pretend = (value: NodeJS.ProcessVersions): void => {
      Object.defineProperty(process, "versions", {
        value,
        configurable: true,
        enumerable: true,
        writable: false,
      });
    };
    pretend({ ...versions, node: "20.19.0" });
    onTestFinished(() => {
      pretend(versions);
    });
    expect(() => createServer({ source: createCache() })).toThrow(
      "[FAILED_PRECONDITION] Node 22 or newer is needed, and this is Node 20.19.0; install a newer Node",
    );
  });
});
