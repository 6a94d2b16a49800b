import { describe, expect, it } from "vitest";

import { createEventHub, type ServerEvent } from "./server-event.ts";

const opened: ServerEvent = { kind: "connection-opened", peer: "p" };

describe("createEventHub()", () => {
  it("has no emit while nobody listens, so that no event is made", () => {
    const hub = createEventHub();
    expect(hub.emit).toBeUndefined();
    const remove = hub.listen(() => undefined);
    expect(hub.emit).toBeTypeOf("function");
    remove();
    expect(hub.emit).toBeUndefined();
    hub.fault("x", new Error("nobody hears"));
  });

  it("tells listeners in the order in which they came; the same function twice is two", () => {
    const hub = createEventHub();
    const heard: string[] = [];
    const first = (): void => {
      heard.push("first");
    };
    const remove = hub.listen(first);
    hub.listen(() => {
      heard.push("second");
    });
    hub.listen(first);
    hub.emit?.(opened);
    expect(heard).toEqual(["first", "second", "first"]);
    remove();
    remove();
    hub.emit?.(opened);
    expect(heard).toEqual(["first", "second", "first", "second", "first"]);
  });

  it("tells everyone what a listener threw, once, also when that one throws again", () => {
    const hub = createEventHub();
    const heard: ServerEvent[] = [];
    hub.listen(() => {
      throw new Error("bad");
    });
    hub.listen((event) => {
      heard.push(event);
    });
    hub.emit?.(opened);
    expect(heard).toEqual([
      { kind: "fault", where: "event listener", error: new Error("bad") },
      opened,
    ]);
  });
});
