import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { raisedCommand } from "./open-files.ts";
import type { Answer, Question } from "./serve-parent.ts";

/** A process of its own that answers questions. `Answers` says what each `op` is answered with. */
export interface Child<Command extends { readonly op: string }, Answers> extends AsyncDisposable {
  /** Rejects with the child's error, when it has gone, or when the deadline of the case has passed. */
  ask<C extends Command>(
    command: C,
  ): Promise<C["op"] extends keyof Answers ? Answers[C["op"]] : never>;
}

/** The settings of a child. */
export interface ChildOptions {
  /** Flags of Node. */
  readonly flags?: readonly string[];
  /** Files it has to be able to open at once. */
  readonly openFiles: number;
  /** Ends the child and everything that waits for it. */
  readonly signal: AbortSignal;
}

/** Starts a file of this folder in a process of its own. Leaving the scope ends it. */
export function startChild<Command extends { readonly op: string }, Answers>(
  file: string,
  options: ChildOptions,
): Child<Command, Answers> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const [command, ...args] = raisedCommand(
    [process.execPath, "--conditions=@xdstp/source", ...(options.flags ?? []), path],
    options.openFiles,
  );
  const child = spawn(command ?? process.execPath, args, {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    serialization: "advanced",
  });
  const waiting = createWaiting();
  child.on("message", (message) => {
    waiting.settle(message as Answer);
  });
  child.on("error", (error) => {
    waiting.fail(error);
  });
  child.on("exit", (code, signal) => {
    waiting.fail(new Error(`${file} ended by itself with ${signal ?? `code ${String(code)}`}`));
  });
  const onAbort = (): void => {
    waiting.fail(options.signal.reason as Error);
  };
  options.signal.addEventListener("abort", onAbort);
  return {
    async ask(asked) {
      options.signal.throwIfAborted();
      return (await waiting.add((id) =>
        child.send({ id, command: asked } satisfies Question),
      )) as never;
    },
    async [Symbol.asyncDispose]() {
      options.signal.removeEventListener("abort", onAbort);
      await end(child);
    },
  };
}

interface Waiting {
  add(send: (id: number) => void): Promise<unknown>;
  settle(answer: Answer): void;
  fail(error: Error): void;
}

function createWaiting(): Waiting {
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  let failed: Error | undefined;
  return {
    async add(send) {
      if (failed !== undefined) throw failed;
      const one = Promise.withResolvers<unknown>();
      open.set(++last, one);
      send(last);
      return one.promise;
    },
    settle({ id, value, error }) {
      const one = open.get(id);
      open.delete(id);
      if (error === undefined) one?.resolve(value);
      else one?.reject(new Error(error));
    },
    fail(error) {
      failed ??= error;
      for (const one of open.values()) one.reject(failed);
      open.clear();
    },
  };
}

/** By its own id; ten thousand open sockets need no farewell. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}
