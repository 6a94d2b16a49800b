import type { ToChild } from "../src/workers/messages.ts";
import type { Child } from "../src/workers/start-child.ts";

/** A process of a relay that only records the messages that it is sent. */
export interface ScriptedChild extends Child {
  readonly heard: ToChild[];
  isUp: boolean;
}

/** Creates a process that is open. */
export function scriptedChild(worker: number): ScriptedChild {
  const heard: ToChild[] = [];
  const child: ScriptedChild = {
    worker,
    heard,
    isUp: true,
    open: new Promise(() => undefined),
    isFirstStart: true,
    isOpen: () => child.isUp,
    send: (message) => {
      heard.push(message);
    },
    stop: async () => Promise.resolve(),
    kill: () => undefined,
  };
  return child;
}
