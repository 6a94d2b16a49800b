import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Manners, openRawGrpcClient } from "../src/raw-grpc-client.ts";
import { startProcess } from "../src/start-process.ts";
import { until } from "../src/until.ts";

/** The duration of the run in minutes, from `XDSTP_LOAD_MINUTES`. Default: 1. */
const minutes = Number(process.env.XDSTP_LOAD_MINUTES ?? "1");
const clients = 1000;
const samples = 20;
const paceMs = 250;

interface Memory {
  /** Bytes of the heap and outside of it, after a collection. */
  readonly inUse: number;
  readonly rss: number;
  readonly streams: number;
}

interface LoadServer {
  readonly port: number;
  put(n: number): Promise<void>;
  memory(): Promise<Memory>;
}

async function useLoadServer(): Promise<LoadServer> {
  const replies: ((line: string) => void)[] = [];
  const early: string[] = [];
  const onLine = (line: string): void => {
    (
      replies.shift() ??
      ((unasked) => {
        early.push(unasked);
      })
    )(line);
  };
  const child = startProcess(
    process.execPath,
    [
      "--expose-gc",
      "--conditions=@xdstp/source",
      join(import.meta.dirname, "../src/load-server.ts"),
    ],
    { onLine },
  );
  const ask = (step: string): Promise<string> =>
    new Promise((resolve) => {
      replies.push(resolve);
      child.write(step);
    });
  const first = await until("the server listens", () => child.ended ?? early[0]);
  if (!first.startsWith("{")) throw new Error(`the server: ${first}\n${early.join("\n")}`);
  const { port } = JSON.parse(first) as { readonly port: number };
  return {
    port,
    put: async (n) => {
      await ask(`put ${n}`);
    },
    memory: async () => JSON.parse(await ask("memory")) as Memory,
  };
}

interface Crowd {
  /** Resolves when every client that accepts all has received a number. */
  readonly heard: (n: number) => Promise<void>;
  readonly listeners: number;
  readonly lost: readonly string[];
  /** The number of times that a client has reconnected. */
  readonly returns: number;
}

/** Starts clients: one in ten never reads, one rejects everything, and one reconnects all the time. */
function useCrowd(port: number): Crowd {
  const newest = new Map<number, number>();
  const lost: string[] = [];
  const open = new Set<() => void>();
  let [returns, over] = [0, false];
  let waiting: (() => boolean) | undefined;
  const start = (client: number, manners: Manners, heard: (said: number) => void): (() => void) => {
    const noteLoss = (reason: string): void => {
      open.delete(cut);
      // The server may cut a client that does not read for minutes.
      if (!over && manners !== "never reads") lost.push(`client-${client}, ${manners}: ${reason}`);
    };
    const { cut } = openRawGrpcClient(
      port,
      client % 2 === 0 ? "delta" : "sotw",
      `client-${client}`,
      manners,
      { heard, lost: noteLoss },
    );
    open.add(cut);
    return () => {
      cut();
      open.delete(cut);
    };
  };
  const comeAndGo = (client: number): void => {
    const cut = start(client, "takes all", () => {
      cut();
      setTimeout(() => {
        if (!over) {
          returns++;
          comeAndGo(client);
        }
      }, 500);
    });
  };
  for (let client = 0; client < clients; client++) {
    const kind = Math.floor(client / 2) % 10;
    if (kind === 0) start(client, "never reads", () => undefined);
    else if (kind === 1) start(client, "rejects all", () => undefined);
    else if (kind === 2) comeAndGo(client);
    else {
      newest.set(client, -1);
      start(client, "takes all", (said) => {
        newest.set(client, Math.max(said, newest.get(client) ?? -1));
        waiting?.();
      });
    }
  }
  onTestFinished(() => {
    over = true;
    for (const cut of open) cut();
  });
  const heard: Crowd["heard"] = (n) =>
    new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        reject(
          new Error(
            `${[...newest.values()].filter((said) => said < n).length} of ${newest.size} clients have not heard ${n}; lost: ${lost.length} ${lost[0] ?? ""}`,
          ),
        );
      }, 30_000);
      waiting = () => {
        if (newest.values().some((said) => said < n)) return false;
        clearTimeout(late);
        waiting = undefined;
        resolve();
        return true;
      };
      waiting();
    });
  return {
    heard,
    lost,
    listeners: newest.size,
    get returns() {
      return returns;
    },
  };
}

describe(
  "xdstp: clients that misbehave",
  { meta: { program: "xdstp", version: process.version, suite: "clients that misbehave" } },
  () => {
    it(
      `lets all others of ${clients} clients see every change, and its memory is flat, for ${minutes} min`,
      { timeout: 180_000 + 2 * 60_000 * minutes },
      async () => {
        const server = await useLoadServer();
        const crowd = useCrowd(server.port);
        await crowd.heard(19);
        const [begun, memory, took]: [number, Memory[], number[]] = [performance.now(), [], []];
        for (let n = 20; memory.length < samples; n++) {
          const from = performance.now();
          await server.put(n);
          await crowd.heard(n);
          took.push(performance.now() - from);
          if (performance.now() - begun >= ((memory.length + 1) * 60_000 * minutes) / samples)
            memory.push(await server.memory());
          await delay(Math.max(0, from + paceMs - performance.now()));
        }
        const fifth = (index: number): number =>
          mean(
            memory
              .slice((index * samples) / 5, ((index + 1) * samples) / 5)
              .map(({ inUse }) => inUse),
          );
        const slowest = took.toSorted((a, b) => b - a);
        console.log(
          `load: ${crowd.listeners} clients saw ${took.length} changes each, slowest ${Math.round(slowest[0] ?? 0)} ms, half within ${Math.round(slowest[took.length >> 1] ?? 0)} ms; ${crowd.returns} returns; ` +
            `memory ${memory.map(({ inUse }) => megabytes(inUse)).join(" ")} MB, resident ${memory.map(({ rss }) => megabytes(rss)).join(" ")} MB, streams ${memory.map(({ streams }) => streams).join(" ")}`,
        );
        expect(crowd.lost).toEqual([]);
        expect(crowd.returns).toBeGreaterThan((50 * minutes * 60) / 2);
        expect(fifth(4) / fifth(1), "memory in the last fifth against the second").toBeLessThan(
          1.05,
        );
      },
    );
  },
);

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function megabytes(bytes: number): string {
  return (bytes / (1 << 20)).toFixed(1);
}
