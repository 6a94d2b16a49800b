import type { Health } from "@xdstp/server";
import type { FromChild, StatusAnswer } from "./messages.ts";
import type { Child } from "./start-child.ts";
import { joined } from "./status-of-all.ts";

/** Asks all workers for their client status, for the one that has been asked. */
export interface Collector {
  observe(child: Child, message: FromChild): void;
  /** It answers nothing any more. */
  gone(child: Child): void;
}

interface Collection {
  readonly asker: Child;
  readonly missing: Set<Child>;
  readonly answers: StatusAnswer[];
  done(answer: StatusAnswer): void;
}

/** An empty one. `children`: all that there are now. `upstreams`: how the servers upstream are now. */
export function createCollector(
  children: () => readonly Child[],
  upstreams: () => Promise<readonly Health[]>,
): Collector {
  const open = new Map<number, Collection>();
  let next = 0;
  const settle = (id: number, child: Child, answer?: StatusAnswer): void => {
    const collection = open.get(id);
    if (collection?.missing.delete(child) !== true) return;
    if (answer !== undefined) collection.answers.push(answer);
    if (collection.missing.size > 0) return;
    open.delete(id);
    collection.done(joined(collection.answers));
  };
  return {
    observe(child, message) {
      if (message.kind === "status") settle(message.id, child, message.answer);
      if (message.kind !== "collect") return;
      const id = next++;
      const asked = children().filter(({ worker, isOpen }) => worker > 0 && isOpen());
      open.set(id, {
        asker: child,
        missing: new Set(asked),
        answers: [],
        done: (answer) => {
          child.send({ kind: "collected", id: message.id, answer });
        },
      });
      const { request, peer } = message;
      void upstreams().then((rows) => {
        for (const one of asked) one.send({ kind: "status", id, request, peer, upstreams: rows });
      });
    },
    gone(child) {
      for (const [id, { asker }] of [...open]) {
        // Its next process counts from the beginning.
        if (asker === child) open.delete(id);
        else settle(id, child);
      }
    },
  };
}
