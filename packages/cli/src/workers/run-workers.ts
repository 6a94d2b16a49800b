import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StreamInfo } from "@xdstp/protocol/server";
import type { ServerEvent } from "@xdstp/server";
import type { CliEvent, WorkerEvent } from "../cli-event.ts";
import type { CliIo } from "../cli-io.ts";
import { createReporter } from "../create-reporter.ts";
import { createStage } from "../reporter.ts";
import { mergeRejections } from "../rejected-versions.ts";
import { type MetricsServer, serveMetrics } from "../metrics-server.ts";
import { createPrometheusMeter } from "../prometheus-meter.ts";
import { recordLogLoss } from "../host-metrics.ts";
import { relayBootstrap, type RelayCall } from "../relay-call.ts";
import { untilStopped } from "../until-stopped.ts";
import { createCollector } from "./status-of-all.ts";
import { type Child, freePort, startChild } from "./start-child.ts";
import { createHealthOfAll } from "./health-of-all.ts";
import { type FromChild, type Look, realEvent, realLook } from "./messages.ts";
import { createMetricsOfAll } from "./metrics-of-all.ts";

/** The interval in milliseconds in which the live table requests the state of each process. */
const lookMs = 1_000;

/** Runs `xdstp relay` with several processes until a signal stops it. Returns the exit code. Throws a CliError if it cannot start; no process stays alive then. */
export async function runWorkers(given: RelayCall, count: number, io: CliIo): Promise<number> {
  const call = { ...given, listen: await freePort(given.listen) };
  const { what } = await relayBootstrap(call.ask, io);
  const dir = await mkdtemp(join(tmpdir(), "xdstp-relay-"));
  const path = join(dir, "first.sock");
  const stage = createStage();
  const say = (event: Parameters<typeof tellOwn>[1]): void => {
    tellOwn(stage.tell, event);
  };
  const streams = createStreamBook(count);
  const collector = createCollector(
    () => children,
    () => healthOfAll.upstreams(),
  );
  const metricsOfAll = createMetricsOfAll(
    () => children,
    () => healthOfAll.upstreams(),
    io.clock,
  );
  const ownLog = createLogMetrics();
  const healthOfAll = createHealthOfAll(() => children, io.clock);
  const looks = new Map<number, Look>();
  let children: readonly Child[] = [];
  const observe = (child: Child, message: FromChild): void => {
    if (message.kind === "look") looks.set(child.worker, realLook(message.look));
    else if (message.kind === "events")
      for (const event of message.events.map(realEvent))
        if (isOfInterest(event, child)) stage.tell(streams.note(event, child.worker));
    collector.observe(child, message);
    metricsOfAll.observe(child, message);
    healthOfAll.observe(child, message);
  };
  const gone = (child: Child, reason: string, retryMs: number): void => {
    looks.delete(child.worker);
    collector.gone(child);
    metricsOfAll.gone(child);
    healthOfAll.gone(child);
    say({ kind: "worker-ended", worker: child.worker, reason, retryMs });
    for (const event of streams.end(child.worker)) stage.tell(event);
  };
  const start = (worker: number, more: Partial<RelayCall> = {}): Child =>
    startChild({
      task: { worker, call: { ...call, ...more }, path },
      env: io.env,
      clock: io.clock,
      observe,
      gone,
      started: (pid) => {
        say({ kind: "worker-started", worker, pid });
      },
    });
  const closeAll = async (): Promise<void> => {
    await Promise.all(children.slice(1).map((child) => child.stop()));
    await children[0]?.stop();
    await rm(dir, { recursive: true, force: true });
  };
  const isReady = (): boolean => children.some(({ worker, isOpen }) => worker > 0 && isOpen());
  let metrics: MetricsServer | undefined;
  try {
    metrics =
      call.metrics &&
      (await serveMetrics(call.metrics, {
        metrics: async () => `${await metricsOfAll.text()}${ownLog.text()}`,
        ready: isReady,
        health: () => healthOfAll.rows(),
      }));
    children = [start(0, forFirst(call, count))];
    await children[0]?.open;
    children = [...children, ...Array.from({ length: count }, (_, at) => start(at + 1))];
    const [, { address = call.listen, tls } = {}] = await Promise.all(
      children.map((child) => child.open),
    );
    const reporter = createReporter({
      from: "relay",
      what,
      address,
      tls,
      held: () => looks.get(0)?.held ?? { ready: true, revision: 0, resources: 0 },
      server: { status: () => streams.renamed(looks) },
      upstreams: () => looks.get(0)?.upstreams ?? [],
      rejections: () => mergeRejections([...looks.values()].map(({ rejections }) => rejections)),
      json: call.json,
      io,
      onLinesLost: ownLog.lose,
    });
    const ticking =
      io.terminal() !== undefined && !call.json
        ? setInterval(() => {
            for (const child of children) child.send({ kind: "look" });
          }, lookMs)
        : undefined;
    say({
      kind: "listening",
      address,
      ...what,
      ...(tls && { tls }),
      ...(metrics && { metrics: metrics.address }),
    });
    stage.enter(reporter);
    try {
      return await untilStopped({
        io,
        failed: new Promise(() => undefined),
        say,
        close: closeAll,
        streams: () => streams.size,
      });
    } finally {
      clearInterval(ticking);
      reporter.close();
    }
  } finally {
    metrics?.close();
    for (const child of children) child.kill();
    await rm(dir, { recursive: true, force: true });
  }
}

function tellOwn(
  tell: (event: CliEvent) => void,
  event: Extract<CliEvent, { from: "relay" }>["event"] | WorkerEvent,
): void {
  tell({ from: "relay", event });
}

/** Creates the metrics of the parent process, which writes the log lines of all workers. */
function createLogMetrics(): {
  readonly text: () => string;
  readonly lose: (lines: number) => void;
} {
  const metrics = createPrometheusMeter();
  let linesLost = 0;
  recordLogLoss(metrics.meter, () => linesLost);
  return {
    text: () => metrics.text(),
    lose: (lines) => {
      linesLost += lines;
    },
  };
}

/** Returns the options of the first process. Its clients are the workers, so with a quorum a change has to be accepted by all workers: each of them first shows it to its own clients. */
function forFirst({ relay }: RelayCall, count: number): Partial<RelayCall> {
  const { quorum } = relay;
  return quorum === undefined
    ? {}
    : {
        relay: { ...relay, quorum: { clients: count, waitMs: (quorum.waitMs ?? 10_000) + 1_000 } },
      };
}

/** Returns true if an event of a process is reported. All workers follow the same files and have the same warnings, so only worker 1 reports them: warnings when it starts for the first time, changes of files always. */
function isOfInterest({ from, event }: CliEvent, { worker, isFirstStart }: Child): boolean {
  if (event.kind === "warning" || from === "relay")
    return event.kind !== "listening" && worker === 1 && (isFirstStart || event.kind !== "warning");
  return true;
}

interface StreamBook {
  readonly size: number;
  /** Returns the event with a stream number that is unique among all processes. */
  note(event: CliEvent, worker: number): CliEvent;
  /** Returns the `disconnect` events for the streams of a process that has ended. */
  end(worker: number): readonly CliEvent[];
  renamed(looks: ReadonlyMap<number, Look>): Look["streams"];
}

function createStreamBook(count: number): StreamBook {
  const open = new Map<number, Map<number, StreamInfo>>();
  const idOf = (id: number, worker: number): number => id * count + worker - 1;
  const noteStream = (event: Extract<ServerEvent, { stream: unknown }>, worker: number): void => {
    const own = open.get(worker) ?? new Map<number, StreamInfo>();
    open.set(worker, own);
    if (event.kind === "disconnect") own.delete(event.stream.id);
    else own.set(event.stream.id, event.stream);
  };
  return {
    get size() {
      return [...open.values()].reduce((sum, { size }) => sum + size, 0);
    },
    note(event, worker) {
      if (event.from !== "server" || !("stream" in event.event)) return event;
      const renamed = {
        ...event.event,
        stream: { ...event.event.stream, id: idOf(event.event.stream.id, worker) },
      };
      noteStream(renamed, worker);
      return { ...event, event: renamed };
    },
    end(worker) {
      const own = [...(open.get(worker)?.values() ?? [])];
      open.delete(worker);
      return own.map((stream) => ({
        from: "server",
        worker,
        event: { kind: "disconnect", stream, code: 14, message: `worker ${worker} has ended` },
      }));
    },
    renamed: (looks) =>
      [...looks].flatMap(([worker, { streams }]) =>
        streams.map((stream) => ({ ...stream, id: idOf(stream.id, worker) })),
      ),
  };
}
