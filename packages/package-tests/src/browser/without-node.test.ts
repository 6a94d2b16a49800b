import { join } from "node:path";
import { createContext, runInContext } from "node:vm";

import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";

import { exchange } from "./exchange.ts";

/** The globals of a browser that these packages may use, besides those of the language itself. */
const globals = {
  TextEncoder,
  TextDecoder,
  AbortController,
  MessageChannel,
  performance,
  setTimeout,
  clearTimeout,
  queueMicrotask: strict(queueMicrotask),
  btoa,
};

/** Returns a function that throws if it is called as a method of another object, as those of browsers do. */
function strict<Args extends readonly unknown[]>(
  call: (...args: Args) => void,
): (...args: Args) => void {
  return function (this: unknown, ...args: Args): void {
    if (this !== undefined) throw new TypeError("Illegal invocation");
    call(...args);
  };
}

/** Returns the script into which a bundler for browsers joins a file and all that it imports. */
async function bundleForBrowsers(file: string): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, file),
    platform: "browser",
    resolve: { conditionNames: ["@xdstp/source", "browser", "import", "default"] },
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: "iife", name: "bundled" });
  const [{ code, imports }] = output;
  expect(imports).toEqual([]);
  return `${code}\nbundled`;
}

describe("core, cache, protocol and both variants in a context that has nothing of Node", () => {
  it.each(["delta", "sotw"] as const)(
    "bring the same versions as in Node (%s)",
    async (variant) => {
      const context = createContext({ ...globals });
      const code = await bundleForBrowsers("exchange.ts");
      const bundled = runInContext(code, context) as { readonly exchange: typeof exchange };
      const held = await bundled.exchange(variant);
      expect(held.map((one) => one.slice(23))).toEqual(["one", "two 😀"]);
      expect([...held]).toEqual(await exchange(variant));
    },
  );
});
