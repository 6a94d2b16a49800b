import { describe, expect, it } from "vitest";

import { give, useLives } from "../test/use-lives.ts";
import { flag, flagUrl, turn, useDeltaScript } from "../test/use-script.ts";
import type { DefinedSnapshot, Watch } from "./index.ts";

/** Collects what a watch delivers, with the code of the error and a mark for a default. */
function listen(watch: Watch<DefinedSnapshot<string>>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const snapshot of watch) said.push(show(snapshot));
  })();
  return said;
}

function show({ value, error, isDefault }: DefinedSnapshot<string>): string {
  return [value, ...(isDefault === true ? ["default"] : []), ...(error ? [error.code] : [])].join(
    " ",
  );
}

const failsOnData = { serverFeatures: ["fail_on_data_errors"] };

describe("watch(type, name, { default })", () => {
  it("delivers nothing before the server has had its time to answer, then the default, then the value of the server", async () => {
    const { client, clock, server } = useDeltaScript();
    const said = listen(client.watch(flag, "a", { default: "off" }));
    await turn();
    clock.advance(14_999);
    await turn();
    expect(said).toEqual([]);
    clock.advance(1);
    await turn();
    expect(said).toEqual(["off default NOT_FOUND"]);
    await give(server, flagUrl, { put: { a: "on" } });
    expect(said.slice(1)).toEqual(["on"]);
  });

  it("delivers the default at once when no server can be reached, when the resource is missing, and when it is rejected", async () => {
    const down = useDeltaScript();
    const unreachable = listen(down.client.watch(flag, "a", { default: "off" }));
    await turn();
    down.server.close();
    await turn();
    expect(unreachable).toEqual(["off default UNAVAILABLE"]);

    const { client, server } = useDeltaScript(failsOnData);
    const [missing, rejected] = ["a", "b"].map((name) =>
      listen(client.watch(flag, name, { default: "off" })),
    );
    await turn();
    await give(server, flagUrl, { put: { b: "broken" }, remove: ["a"] });
    expect([missing, rejected]).toEqual([
      ["off default NOT_FOUND"],
      ["off default INVALID_ARGUMENT"],
    ]);
  });

  it("keeps the last value over the default when a newer one is rejected, and goes back to the default when the resource is removed", async () => {
    const table = [
      [{}, { put: { a: "broken" } }, "on INVALID_ARGUMENT"],
      [failsOnData, { remove: ["a"] }, "off default NOT_FOUND"],
    ] as const;
    for (const [options, sent, expected] of table) {
      const { client, server } = useDeltaScript(options);
      const said = listen(client.watch(flag, "a", { default: "off" }));
      await turn();
      await give(server, flagUrl, { put: { a: "on" } });
      await give(server, flagUrl, sent);
      expect(said).toEqual(["on", expected]);
    }
  });

  it("prefers the last known value of the snapshot to the default", async () => {
    const live = useLives();
    const first = live();
    const once = listen(first.client.watch(flag, "a", { default: "off" }));
    await turn();
    await give(first.server, flagUrl, { put: { a: "on" } });
    expect(once).toEqual(["on"]);
    await first.client.close();
    const { client, server } = live();
    const [known, unknown] = ["a", "b"].map((name) =>
      listen(client.watch(flag, name, { default: "off" })),
    );
    await turn();
    server.close();
    await turn();
    expect([known, unknown]).toEqual([
      ["on UNAVAILABLE", "on UNAVAILABLE"],
      ["off default UNAVAILABLE"],
    ]);
  });

  it("calls onChanged with the default and its reason, and then with the value, also if both are equal", async () => {
    const { client, server } = useDeltaScript();
    const said: string[] = [];
    client.watch(flag, "a", {
      default: "on",
      onChanged: (snapshot) => {
        said.push(`changed ${show(snapshot as DefinedSnapshot<string>)}`);
      },
      onAmbientError: (error) => {
        said.push(`ambient ${error?.code ?? "none"}`);
      },
    });
    await turn();
    await give(server, flagUrl, { remove: ["a"] });
    await give(server, flagUrl, { put: { a: "on" } });
    await give(server, flagUrl, { put: { a: "broken" } });
    expect(said).toEqual([
      "changed on default NOT_FOUND",
      "changed on",
      "ambient INVALID_ARGUMENT",
    ]);
  });
});

describe("read(type, name, { default })", () => {
  it("returns the value, or the default as soon as the server says that there is none", async () => {
    const { client, server } = useDeltaScript(failsOnData);
    const [a, b] = ["a", "b"].map((name) => client.read(flag, name, { default: "off" }));
    await turn();
    await give(server, flagUrl, { put: { a: "on" }, remove: ["b"] });
    expect((await Promise.all([a, b])).map((read) => read && show(read))).toEqual([
      "on",
      "off default NOT_FOUND",
    ]);
  });

  it("returns the default after the time, with the reason, if no server answers or none can be reached", async () => {
    const silent = useDeltaScript();
    const early = silent.client.read(flag, "a", { default: "off", timeoutMs: 5_000 });
    await turn();
    silent.clock.advance(5_000);
    expect(show(await early)).toBe("off default DEADLINE_EXCEEDED");

    const { client, clock, server } = useDeltaScript();
    const late = client.read(flag, "a", { default: "off", timeoutMs: 5_000 });
    await turn();
    server.close();
    await turn();
    clock.advance(5_000);
    expect(show(await late)).toBe("off default UNAVAILABLE");
  });
});
