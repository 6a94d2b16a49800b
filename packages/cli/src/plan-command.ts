import {
  askedEndpoint,
  clientTlsOptions,
  clientTlsPaths,
  namingSource,
  serverVariable,
} from "./asked-server.ts";
import { tlsUsage } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import {
  type Command,
  type CommandCall,
  pathFrom,
  secondsFlag,
  takeNoMore,
  wordFlag,
} from "./command.ts";
import { limitsFlag, statusLimits } from "./limits-flag.ts";

/** `xdstp plan`: shows what would change if a server served a folder. */
export const planCommand: Command = {
  name: "plan",
  summary: "Show what would change for the clients of `xdstp serve` if it served a folder.",
  usage: `xdstp plan DIR --server HOST:PORT [--fail-on removals|changes] [--json] [--partial] [--descriptors FILE]... [--allow CODE]... [--authority NAME]... [--node-key FIELD] [--timeout SECONDS] [--channel-limit maxMessageBytes=NUMBER] ${tlsUsage}`,
  notes: [
    "It compares DIR with what the server has, and asks the server who is connected. Then it makes the change on a server in this process, with a client for each group of equal clients that accepts everything. Nothing is applied.",
    "It shows each resource that is added (+), changed (~) or removed (-), with the fields that differ; the responses that each group of clients gets, in order; the names that wait, and for what; and what Envoy does with connections. Values of secrets are not shown.",
    "Without --server it asks the server that the environment variable XDSTP_SERVER names. That has to be `xdstp serve`, of this release or a newer one. A server with --policy answers callers that may see all clients (`status: all`).",
    "DIR is read and checked as by `xdstp serve`; give the same --descriptors, --allow, --authority and --node-key. The exit code is 1 if DIR has an error (without --partial), if the server does not answer, and with --fail-on if the plan has such changes; 2 for a wrong call.",
  ],
  options: {
    server: { value: "HOST:PORT", help: "the server that would serve DIR" },
    "fail-on": {
      value: "removals|changes",
      help: "exit with 1 if a resource would be removed, or if anything would change",
    },
    json: { help: "one JSON object, with all fields and all names" },
    partial: {
      help: "of a DIR with errors, plan what xdstp serve --partial would apply",
    },
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
    allow: {
      value: "CODE",
      multiple: true,
      help: "a problem that is a warning, as for xdstp serve --allow",
    },
    authority: {
      value: "NAME",
      multiple: true,
      help: "an authority that the server answers for, as for xdstp serve --authority (default: all)",
    },
    "node-key": {
      value: "FIELD",
      help: "the field of a node that selects DIR/_nodes/KEY, as for xdstp serve (default cluster)",
    },
    timeout: { value: "SECONDS", help: "how long to wait for each answer (default 10)" },
    "channel-limit": {
      value: "NAME=NUMBER",
      multiple: true,
      help: "another value of a limit on what the server may send: maxMessageBytes, the bytes of one answer (default 83886080)",
    },
    ...clientTlsOptions,
  },
  example: "xdstp plan config --server 127.0.0.1:18000 --fail-on removals",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [dir, ...more] = call.positionals;
  if (dir === undefined || dir === "") throw new CliError(2, "which folder?");
  takeNoMore(more, "; one folder is compared");
  const server = askedEndpoint("--server", call.text("server"), io);
  if (server === undefined)
    throw new CliError(2, `which server? Give --server HOST:PORT, or set ${serverVariable}`);
  const options = {
    dir: pathFrom(io.cwd, dir),
    server: server.endpoint,
    failOn: wordFlag(call, "fail-on", ["removals", "changes"]),
    json: call.flag("json"),
    partial: call.flag("partial"),
    descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
    allow: call.texts("allow"),
    authorities: call.texts("authority"),
    nodeKey: call.text("node-key") ?? "cluster",
    timeoutMs: secondsFlag(call, "timeout", 3_600) ?? 10_000,
    limits: await limitsFlag(call, statusLimits),
    tls: clientTlsPaths(call, io.cwd),
  };
  const { plan } = await import("./plan.ts");
  return namingSource(server, async () => plan(options, io));
}
