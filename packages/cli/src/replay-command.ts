import { tlsUsage } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import { clientTlsFlags, clientTlsOptions, clientTlsPaths } from "./asked-server.ts";
import type { CliIo } from "./cli-io.ts";
import {
  type Command,
  type CommandCall,
  countFlag,
  pathFrom,
  secondsFlag,
  takeNoMore,
} from "./command.ts";
import { viewOptions } from "./get-command.ts";
import { channelLimits, limitsFlag, wireLimits } from "./limits-flag.ts";
import { parseEndpoint } from "./endpoint.ts";
import type { ReplayServeOptions } from "./replay-serve.ts";

/** `xdstp replay`: plays one side of a recording. */
export const replayCommand: Command = {
  name: "replay",
  summary: "Play the server's side of a recording to clients, or the client's side to a server.",
  usage: `xdstp replay FILE (--serve HOST:PORT | --server HOST:PORT) [--json] [--count N] [--timeout SECONDS] [--show-secrets] [--descriptors FILE]... [--limit NAME=NUMBER]... [--channel-limit NAME=NUMBER]... ${tlsUsage}`,
  notes: [
    "With --serve each client that connects gets what the recorded client got: each response goes out once the client has sent, for its type, what the recording has before it. Further requests are reported. It runs until Ctrl-C; --count N ends it after N streams.",
    "With --server the recorded requests are sent, and differences between the responses and the recording are reported. Versions and nonces are a server's own, and may differ.",
    "Either way the exit code is 1 where something differed.",
  ],
  options: {
    serve: {
      value: "HOST:PORT",
      help: "play the server, and listen here; port 0 takes a free one",
    },
    server: { value: "HOST:PORT", help: "play the client of this server" },
    json: { help: "one JSON object per event and line" },
    count: { value: "N", help: "with --serve: end after N streams" },
    timeout: {
      value: "SECONDS",
      help: "with --serve: end after this time; with --server: how long to wait for each response (default 5)",
    },
    limit: {
      value: "NAME=NUMBER",
      multiple: true,
      help: "with --serve: another value of a limit on what clients may do, such as maxMessageBytes=200000000; those of connections, calls and messages. May be given several times. The README has the names, defaults and units",
    },
    "channel-limit": {
      value: "NAME=NUMBER",
      multiple: true,
      help: "with --server: another value of a limit on what the server may send, such as maxMessageBytes=200000000; may be given several times",
    },
    ...viewOptions,
    ...clientTlsOptions,
  },
  example: "xdstp replay bug.jsonl --serve 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [name, ...more] = call.positionals;
  if (name === undefined || name === "") throw new CliError(2, "which file?");
  takeNoMore(more, "; one recording is played");
  const [serve, server] = [call.text("serve"), call.text("server")];
  if ((serve === undefined) === (server === undefined))
    throw new CliError(
      2,
      "which side? Give --serve to play the server, or --server to play its client",
    );
  const file = pathFrom(io.cwd, name);
  const shared = { file, json: call.flag("json"), timeoutMs: secondsFlag(call, "timeout") };
  return serve === undefined
    ? runClient(call, io, shared, server ?? "")
    : runServer(call, io, shared, serve);
}

type Shared = Pick<ReplayServeOptions, "file" | "json" | "timeoutMs">;

async function runServer(
  call: CommandCall,
  io: CliIo,
  shared: Shared,
  listen: string,
): Promise<number> {
  const count = countFlag(call, "count");
  if (clientTlsFlags(call) !== undefined)
    throw new CliError(2, "options of TLS go with --server; a recording is served without TLS");
  if (call.flag("show-secrets") || call.texts("descriptors").length > 0)
    throw new CliError(
      2,
      "--show-secrets and --descriptors go with --server; a recording is served as it is",
    );
  if (call.texts("channel-limit").length > 0)
    throw new CliError(2, "--channel-limit goes with --server; with --serve it is --limit");
  const limits = await limitsFlag(call, wireLimits);
  const { replayServe } = await import("./replay-serve.ts");
  return replayServe(
    {
      ...shared,
      listen: parseEndpoint("--serve", listen, 0),
      limits,
      count,
    },
    io,
  );
}

async function runClient(
  call: CommandCall,
  io: CliIo,
  shared: Shared,
  server: string,
): Promise<number> {
  if (call.text("count") !== undefined) throw new CliError(2, "--count goes with --serve");
  if (call.texts("limit").length > 0)
    throw new CliError(2, "--limit goes with --serve; with --server it is --channel-limit");
  const tls = clientTlsPaths(call, io.cwd);
  const limits = await limitsFlag(call, channelLimits);
  const { replayAsk } = await import("./replay-ask.ts");
  return replayAsk(
    {
      ...shared,
      server: parseEndpoint("--server", server, 1),
      limits,
      showSecrets: call.flag("show-secrets"),
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      tls,
    },
    io,
  );
}
