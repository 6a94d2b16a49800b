// One process of `xdstp relay --workers N`. The first process (worker 0) connects upstream and serves the workers over a socket; the workers serve clients.
import { rm } from "node:fs/promises";
import { bootstrapFacts } from "@xdstp/federation";
import { createServer, type Health } from "@xdstp/server";
import { CliError } from "../cli-error.ts";
import type { CliEvent } from "../cli-event.ts";
import { checkFiles, openHost } from "../host-server.ts";
import { loadRegistry } from "../load-registry.ts";
import { groupLimits } from "../named-limits.ts";
import { processIo } from "../process-io.ts";
import { createPrometheusMeter } from "../prometheus-meter.ts";
import { relayBootstrap } from "../relay-call.ts";
import type { Tell } from "../reporter.ts";
import { openRelaySupply, relayOptions, relaySupply } from "../relay.ts";
import { firstAsUpstream, workerLimits } from "./first-as-upstream.ts";
import { type ChildTask, type Look, plain, taskVariable } from "./messages.ts";
import { openParentLine, type ParentLine } from "./parent-line.ts";
import { ownStatus, statusOfAll } from "./status-of-all.ts";

const task = JSON.parse(process.env[taskVariable] ?? "{}") as ChildTask;
const line = openParentLine();
try {
  await (task.worker === 0 ? runFirst(task, line) : runWorker(task, line));
  process.exit(0);
} catch (error) {
  line.send({
    kind: "failed",
    exitCode: error instanceof CliError ? error.exitCode : 1,
    message: error instanceof CliError ? error.message : String(error),
  });
  process.disconnect();
}

/** Runs the first process. Its clients are the workers. It does not report what they reject, since a worker only passes on rejections of its own clients and reports these itself. */
async function runFirst({ call, path }: ChildTask, parent: ParentLine): Promise<void> {
  const io = processIo();
  const upstream = await relayBootstrap(call.ask, io);
  const tell: Tell = (event) => {
    if (event.event.kind !== "resource-rejected") parent.tell(event);
  };
  const supply = await openRelaySupply(
    await relayOptions(call, upstream, io, tell),
    upstream.what,
    tell,
    upstream.certificates,
  );
  await rm(path, { force: true });
  const server = createServer({
    ...supply.serving,
    clientStatus: false,
    limits: groupLimits(workerLimits(call.limits)),
  });
  await server.listen({ path });
  parent.serve({
    status: () => Promise.resolve({ bytes: new Uint8Array() }),
    look: () => ({
      streams: [],
      upstreams: plain(supply.upstreams?.() ?? []) as Look["upstreams"],
      rejections: [],
      held: supply.held(),
    }),
    health: () => supply.health?.() ?? [],
  });
  parent.send({ kind: "open" });
  await parent.stopped;
  await server.close({ graceMs: 1_000 });
  await supply.close();
}

async function runWorker({ call, path, worker }: ChildTask, parent: ParentLine): Promise<void> {
  const io = processIo();
  const tell: Tell = (event) => {
    if (isOwn(event)) parent.tell({ ...event, worker });
  };
  const { bootstrap, what, openChannels } = await relayBootstrap(call.ask, io);
  const options = await relayOptions(
    { ...call, snapshot: undefined },
    {
      bootstrap: firstAsUpstream(path, bootstrapFacts(bootstrap).node, worker),
      openChannels,
    },
    io,
    tell,
  );
  const supply = relaySupply(
    { ...options, follow: false, variant: "delta", backoff: { initialMs: 100, maxMs: 1_000 } },
    what,
    tell,
  );
  const { metrics, ...others } = call;
  const meter = metrics && createPrometheusMeter();
  const checked = await checkFiles({ ...others, registry: await loadRegistry([]) });
  const serving = {
    ...supply.serving,
    ...statusOfAll(parent),
    ...(meter && { meter: meter.meter }),
  };
  let upstreams: readonly Health[] = [];
  const host = await openHost(
    checked,
    { ...supply, serving, health: () => upstreams },
    (event) => {
      parent.tell({ ...event, worker });
    },
    io,
  );
  parent.serve({
    status(request, peer, ofFirst) {
      upstreams = ofFirst;
      return ownStatus(host.server, request, peer);
    },
    look: () => ({
      streams: plain(host.server.status()) as Look["streams"],
      upstreams: [],
      rejections: supply.rejections?.() ?? [],
      held: supply.held(),
    }),
    health: () => host.files(),
    ...(meter && {
      metrics(ofFirst: readonly Health[]) {
        upstreams = ofFirst;
        return meter.text();
      },
    }),
  });
  parent.send({ kind: "open", address: host.address, tls: host.tls });
  await parent.stopped;
  host.letGo();
  await host.close();
}

/** Returns true for the events of a relay that only a worker knows, such as rejected opaque names. The first process reports the servers upstream, and all processes have the same events of their caches. */
function isOwn({ from, event }: CliEvent): boolean {
  return from === "upstream" && !("server" in event);
}
