import { expect, it } from "vitest";

import { of, resource, scene, T, type Scene } from "../../test/scene.ts";
import { turn } from "../../test/turn.ts";

/** Creates two servers, of which the first is unreachable and has not answered. */
async function useSilent(): Promise<Scene> {
  const silent = await scene({ a: ["first", "second"] });
  silent.at("first").responded = false;
  silent.at("first").fail("down");
  return silent;
}

it("takes a collection for settled that a server was silent of while another stood in for it, once it is believed [C-GLOB-9, C-GRPC-6]", async () => {
  const { at, watch } = await useSilent();
  at("second").silent = true;
  const { topic } = watch(of("a", "*"));
  await turn();
  expect(at("second").isOpen).toBe(true);
  at("first").sink.commit({ settled: [{ typeUrl: T, interest: { name: of("a", "*") } }] });
  expect(topic.settled).toBe(false);
  at("first").responded = true;
  at("first").sink.commit({ put: [{ typeUrl: T, resource: resource(of("a", "x"), "X") }] });
  expect([topic.settled, topic.members().length]).toEqual([true, 1]);
});

it("ends the use of a stand-in with any answer of a server before it, be it empty, and asks that once more for what it was silent of [C-GRPC-6]", async () => {
  const { at, watch } = await useSilent();
  at("second").put(T, resource(of("a", "x"), "X"));
  const x = watch(of("a", "x"));
  await turn();
  at("first").sink.commit({ remove: [{ typeUrl: T, name: of("a", "x") }] });
  expect(x.version).toBe("X");
  at("first").responded = true;
  at("first").sink.unavailable({}, undefined);
  const asked = at("first").answers.length;
  at("first").fail(undefined);
  await turn();
  expect([at("second").isOpen, at("first").answers.length > asked, x.version]).toEqual([
    false,
    true,
    undefined,
  ]);
});
