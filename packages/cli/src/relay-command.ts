import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import {
  type Command,
  type CommandCall,
  countFlag,
  pathFrom,
  secondsFlag,
  takeNoMore,
} from "./command.ts";
import { askOptions } from "./ask-flags.ts";
import { askedServer } from "./asked-server.ts";
import { limitsFlag, channelLimits } from "./limits-flag.ts";
import type { RelayCall } from "./relay-call.ts";
import { listenOptions, serverFlags, serverOptions, serverUsage } from "./server-flags.ts";
import { transportNames, transportPackages } from "./transport-flags.ts";

const {
  bootstrap,
  node,
  "channel-limit": channelLimit,
} = askOptions as Required<Pick<typeof askOptions, "bootstrap" | "node" | "channel-limit">>;

const mostWorkers = 256;

/** `xdstp relay`: serves resources of other servers with one subscription for all clients, also while those servers are unavailable. */
export const relayCommand: Command = {
  name: "relay",
  summary:
    "Serve what other servers have, with one subscription for all clients, also while they are down.",
  usage: `xdstp relay [--server HOST:PORT | --bootstrap FILE] [--listen HOST:PORT] [--json] [--follow] [--sotw] [--snapshot DIR [--snapshot-key FILE]] [--opaque-key FIELDS] [--quorum N [--quorum-wait SECONDS]] [--linger SECONDS] [--upstream-names N] [--workers N] [--node ID] [--channel-limit NAME=NUMBER]... ${serverUsage.replace("PACKAGE=HOST:PORT", "PACKAGE[=HOST:PORT]")}`,
  notes: [
    "The bootstrap lists the servers of each authority, in authorities (gRPC) or config_sources (Envoy); --server gets all requests, without TLS.\nThe relay subscribes at each server over one stream, once for many clients, and only for what clients subscribe to.",
    "Redirects and directives are handed on to clients as they are. With --follow the relay follows them, and clients get what they lead to.",
    "Opaque names and * may mean something else to each client, so they are rejected unless --opaque-key says on which fields of its node that depends.",
    "While a server is down, the relay serves what it has cached of it; with --snapshot also after a restart of the relay. `xdstp status` works on a relay as on a server.",
    "On a terminal it shows a table of upstreams, and one of clients and types; elsewhere one event per line. Ctrl-C ends it in order, a second one at once.",
    "Options of TLS are for its own clients: a bootstrap says by itself how to speak to its servers.",
  ],
  options: {
    server: {
      value: "HOST:PORT",
      help: "the one server to ask: HOST:PORT of gRPC, or https://HOST of native HTTP; without it a bootstrap says",
    },
    bootstrap,
    ...listenOptions,
    follow: { help: "follow redirects and directives (default: they are handed on)" },
    sotw: {
      help: "ask by the SotW variant of the protocol, where a bootstrap of Envoy does not say it (default: delta)",
    },
    snapshot: {
      value: "DIR",
      help: "store what servers have sent in this folder, and serve it after a restart until they answer; created if it does not exist, for one relay",
    },
    "snapshot-key": {
      value: "FILE",
      help: "32 bytes, as they are, in hexadecimal digits or base64: store secrets too, encrypted with it (default: they are not stored)",
    },
    "opaque-key": {
      value: "FIELDS",
      help: "fields of a client's node that opaque names depend on: id, cluster, locality.zone, metadata.KEY, ..., with commas; none: they are equal for all clients (default: opaque names are rejected)",
    },
    quorum: {
      value: "N",
      help: "a change goes to N clients first; what one of them rejects is rejected upstream and sent to no other client (default: to all at once)",
    },
    "quorum-wait": {
      value: "SECONDS",
      help: "how long these have to answer; silence counts as acceptance (default 10)",
    },
    linger: {
      value: "SECONDS",
      help: "how long a server is still asked for what no client wants any more (default 60)",
    },
    "upstream-names": {
      value: "N",
      help: "how many names of one type the relay requests of each server upstream at a time, twice as many of all types and a tenth of them globs; more have to wait. Not more than a server accepts on a stream (default 100000, and 1000 globs)",
    },
    workers: {
      value: "N",
      help: "serve by N processes on one port; one more connects upstream for all of them (default: one process does all)",
    },
    node: {
      ...node,
      help: "who the relay says it is (default xdstp-relay, or as the bootstrap says)",
    },
    "channel-limit": channelLimit,
    ...serverOptions,
    transport: {
      ...serverOptions.transport,
      value: "PACKAGE[=HOST:PORT]",
      help: "a package with another transport, for servers upstream such as ws://HOST; with an address, it is also served over this transport there; may be given several times",
    },
  },
  example: "xdstp relay --bootstrap grpc.json --snapshot ./relay-state",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  takeNoMore(call.positionals, "; --server or --bootstrap gives the servers");
  const options: RelayCall = {
    ...(await serverFlags(call, io, { upstream: true })),
    ask: await askOf(call, io),
    relay: relayOf(call),
    snapshot: snapshotOf(call, io),
  };
  const workers = countFlag(call, "workers");
  if (workers !== undefined) return runWorkersOf(workers, options, io);
  const { relay } = await import("./relay.ts");
  return relay(options, io);
}

async function runWorkersOf(count: number, options: RelayCall, io: CliIo): Promise<number> {
  if (count > mostWorkers)
    throw new CliError(
      2,
      `--workers ${count}: give at most ${mostWorkers}; more workers than processors do not help`,
    );
  // The polls of one client may reach several processes, each of which would take it for a new one.
  if (options.http?.rest === true)
    throw new CliError(2, "--rest needs one process: leave --workers out, or serve over --http");
  if (options.transports !== undefined && options.transports.length > 0)
    throw new CliError(2, "a --transport that listens needs one process: leave --workers out");
  const { runWorkers } = await import("./workers/run-workers.ts");
  return runWorkers(options, count, io);
}

async function askOf(call: CommandCall, { cwd }: CliIo): Promise<RelayCall["ask"]> {
  const [server, file, id] = ["server", "bootstrap", "node"].map((name) => call.text(name));
  if (server !== undefined && file !== undefined)
    throw new CliError(2, "--server and --bootstrap both say whom to ask; give one of them");
  const limits = await limitsFlag(call, channelLimits);
  const transports = transportPackages(call);
  const schemes = await transportNames(transports, cwd);
  return {
    limits: Object.keys(limits).length > 0 ? limits : undefined,
    variant: call.flag("sotw") ? "sotw" : "delta",
    server:
      server === undefined ? undefined : askedServer("--server", server, { env: {} }, schemes),
    transports,
    bootstrap: file && pathFrom(cwd, file),
    node: id ?? (server === undefined ? undefined : "xdstp-relay"),
  };
}

function relayOf(call: CommandCall): RelayCall["relay"] {
  const lingerMs = secondsFlag(call, "linger");
  const quorum = quorumOf(call);
  const opaqueKey = call.text("opaque-key");
  const upstreamNames = countFlag(call, "upstream-names");
  return {
    follow: call.flag("follow"),
    ...(quorum && { quorum }),
    ...(opaqueKey !== undefined && { opaqueKey: fieldsOf(opaqueKey) }),
    ...(lingerMs !== undefined && { lingerMs }),
    ...(upstreamNames !== undefined && { upstreamNames }),
  };
}

function snapshotOf(call: CommandCall, { cwd }: CliIo): RelayCall["snapshot"] {
  const [dir, key] = [call.text("snapshot"), call.text("snapshot-key")];
  if (dir === undefined && key !== undefined)
    throw new CliError(2, "--snapshot-key goes with --snapshot DIR");
  return dir === undefined
    ? undefined
    : { dir: pathFrom(cwd, dir), keyFile: key && pathFrom(cwd, key) };
}

function quorumOf(call: CommandCall): RelayCall["relay"]["quorum"] {
  const [clients, waitMs] = [countFlag(call, "quorum"), secondsFlag(call, "quorum-wait")];
  if (clients === undefined && waitMs !== undefined)
    throw new CliError(2, "--quorum-wait goes with --quorum N");
  return clients === undefined ? undefined : { clients, ...(waitMs !== undefined && { waitMs }) };
}

function fieldsOf(text: string): readonly string[] {
  return text === "none" ? [] : text.split(",").map((field) => field.trim());
}
