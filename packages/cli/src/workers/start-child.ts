import { type ChildProcess, fork } from "node:child_process";
import cluster from "node:cluster";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Clock, Timer } from "@xdstp/core";
import { CliError } from "../cli-error.ts";
import { type ChildTask, type FromChild, taskVariable, type ToChild } from "./messages.ts";
import type { Endpoint } from "../endpoint.ts";

type Open = Extract<FromChild, { kind: "open" }>;

/** A process of the relay, which is started again when it ends. */
export interface Child {
  readonly worker: number;
  /** Resolves when the process listens for the first time. Rejects with a CliError if it cannot start. */
  readonly open: Promise<Open>;
  readonly isOpen: () => boolean;
  /** true: the process was started only once. */
  readonly isFirstStart: boolean;
  send(message: ToChild): void;
  /** Ends the process in order. Resolves when it has ended. */
  stop(): Promise<void>;
  kill(): void;
}

/** The options of {@link startChild}. */
interface ChildOptions {
  readonly task: ChildTask;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly observe: (child: Child, message: FromChild) => void;
  /** Called if the process ends without a call of `stop` or `kill`. */
  readonly gone: (child: Child, reason: string, retryMs: number) => void;
  readonly started: (pid: number) => void;
}

const program = fileURLToPath(new URL(`./relay-child${extname(import.meta.url)}`, import.meta.url));
const retry = { firstMs: 100, mostMs: 5_000, wellMs: 10_000 };

/** Starts a process. The workers share one port (node:cluster); the first process does not have a port. */
export function startChild({ task, env, clock, observe, gone, started }: ChildOptions): Child {
  let [process, isOpen, isStopping, starts, retryMs, startedAt] = [
    undefined as ChildProcess | undefined,
    false,
    false,
    0,
    retry.firstMs,
    0,
  ];
  let timer: Timer | undefined;
  let failure: string | undefined;
  const { promise: open, resolve, reject } = Promise.withResolvers<Open>();
  const { promise: ended, resolve: end }: PromiseWithResolvers<void> = Promise.withResolvers();
  open.catch(() => undefined);
  const take = (message: FromChild): void => {
    if (message.kind === "failed" && starts === 1 && !isOpen)
      reject(new CliError(message.exitCode, message.message));
    if (message.kind === "failed") failure = message.message;
    if (message.kind === "open") {
      isOpen = true;
      resolve(message);
    }
    observe(child, message);
  };
  const onEnd = (code: number | null, signal: string | null): void => {
    isOpen = false;
    reject(
      new CliError(
        1,
        `a process of the relay has ended before it could begin (${signal ?? `exit code ${String(code)}`})`,
      ),
    );
    if (isStopping) {
      end();
      return;
    }
    retryMs =
      clock.now() - startedAt > retry.wellMs ? retry.firstMs : Math.min(retryMs * 2, retry.mostMs);
    gone(child, failure ?? `has ended with ${signal ?? `exit code ${String(code)}`}`, retryMs);
    failure = undefined;
    timer = clock.after(retryMs, start);
  };
  const start = (): void => {
    starts++;
    startedAt = clock.now();
    process = spawn(task, env);
    process.on("message", (message) => {
      take(message as FromChild);
    });
    process.once("exit", onEnd);
    started(process.pid ?? 0);
  };
  const child: Child = {
    worker: task.worker,
    open,
    isOpen: () => isOpen,
    get isFirstStart() {
      return starts === 1;
    },
    send(message) {
      if (process?.connected === true) process.send(message);
    },
    async stop() {
      isStopping = true;
      timer?.cancel();
      if (process?.exitCode !== null || process.signalCode !== null) return;
      child.send({ kind: "stop" });
      await ended;
    },
    kill() {
      isStopping = true;
      timer?.cancel();
      process?.kill("SIGKILL");
    },
  };
  start();
  return child;
}

function spawn(task: ChildTask, env: ChildOptions["env"]): ChildProcess {
  const variables = { ...env, [taskVariable]: JSON.stringify(task) };
  if (task.worker === 0) return fork(program, { env: variables, serialization: "advanced" });
  cluster.setupPrimary({ exec: program, args: [], serialization: "advanced" });
  return cluster.fork(variables).process;
}

/** Replaces port 0 by a free port, since several processes that start one after the other have to listen on the same port. Returns other endpoints unchanged, and so an address that cannot be listened on: the process that listens reports the error. */
export async function freePort(where: Endpoint): Promise<Endpoint> {
  if (where.port !== 0) return where;
  const server = createServer().listen({ ...where, exclusive: true });
  try {
    await once(server, "listening");
    return { ...where, port: (server.address() as AddressInfo).port };
  } catch {
    return where;
  } finally {
    server.close();
  }
}
