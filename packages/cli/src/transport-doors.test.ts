import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { type LoadedTransport, openTransportDoors } from "./transport-doors.ts";

const never = new Promise<never>(() => undefined);
const server = { accept: () => ({ code: 12, message: "" }) };

function transport(name: string, listen: LoadedTransport["listen"]): LoadedTransport {
  return { name, cwd: "/", address: { host: "127.0.0.1", port: 8 }, listen };
}

describe("openTransportDoors()", () => {
  it("waits 10 s for a package that does not begin to listen, and closes the others", async () => {
    const clock = createFakeClock();
    const closed: string[] = [];
    const good = transport("good", async () =>
      Promise.resolve({
        url: "acme://good",
        close: async () => {
          closed.push("good");
          return Promise.resolve();
        },
      }),
    );
    const { promise: called, resolve: call }: PromiseWithResolvers<void> = Promise.withResolvers();
    const silent = transport("silent", async () => {
      call();
      return never;
    });
    const opened = openTransportDoors([good, silent], server, clock);
    opened.catch(() => undefined);
    await called;
    clock.advance(10_000);
    await expect(opened).rejects.toThrow(
      "--transport silent=127.0.0.1:8: it cannot listen: it has not answered for 10 s",
    );
    expect(closed).toEqual(["good"]);
  });

  it("closes all of them, and names the first one that does not stop within 10 s or throws", async () => {
    const clock = createFakeClock();
    const closed: string[] = [];
    const closing = (name: string, close: () => Promise<void>): LoadedTransport =>
      transport(name, async () =>
        Promise.resolve({
          url: name,
          close: async () => {
            closed.push(name);
            return close();
          },
        }),
      );
    const doors = await openTransportDoors(
      [
        closing("silent", async () => never),
        closing("broken", async () => Promise.reject(new Error("not today"))),
        closing("good", async () => Promise.resolve()),
      ],
      server,
      clock,
    );
    const ended = doors.close();
    ended.catch(() => undefined);
    clock.advance(10_000);
    await expect(ended).rejects.toThrow(
      "--transport silent=127.0.0.1:8: it has not stopped: it has not answered for 10 s",
    );
    expect(closed).toEqual(["silent", "broken", "good"]);
  });
});
