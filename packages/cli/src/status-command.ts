import {
  askedEndpoint,
  clientTlsOptions,
  clientTlsPaths,
  namingSource,
  serverVariable,
} from "./asked-server.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, secondsFlag, takeNoMore } from "./command.ts";
import { limitsFlag, statusLimits } from "./limits-flag.ts";
import type { StatusOptions } from "./status.ts";

/** `xdstp status`: shows what the clients of a server have accepted or rejected. */
export const statusCommand: Command = {
  name: "status",
  summary: "Show what each client of a server has accepted, rejected or not answered.",
  usage:
    "xdstp status [HOST:PORT] [--watch] [--json] [--fail-on-nack] [--fail-if-none] [--node PREFIX] [--timeout SECONDS] [--channel-limit maxMessageBytes=NUMBER] [--tls] [--tls-ca FILE] [--tls-cert FILE --tls-key FILE]",
  notes: [
    "Without HOST:PORT it asks the server that the environment variable XDSTP_SERVER names.",
    "It asks by CSDS (envoy.service.status.v3.ClientStatusDiscoveryService): `xdstp serve` answers, and so do other management servers and gRPC programs that offer it.",
    "SYNCED is accepted, STALE not answered yet, NACKED rejected, NOT_SENT not there. NACKED shows the accepted version and the rejected one.",
  ],
  options: {
    watch: {
      help: "go on until Ctrl-C: a live table on a terminal, elsewhere a line for each change",
    },
    json: { help: "one JSON object; with --watch one for each change, a line each" },
    "fail-on-nack": {
      help: "exit with 1 if a client rejects something, with 3 if there are streams that you may not see",
    },
    "fail-if-none": {
      help: "exit with 1 if no client is connected, with 3 if there are only streams that you may not see",
    },
    node: { value: "PREFIX", help: "only clients whose id begins so" },
    timeout: { value: "SECONDS", help: "how long to wait for an answer (default 5)" },
    "channel-limit": {
      value: "NAME=NUMBER",
      multiple: true,
      help: "another value of a limit on what the server may send: maxMessageBytes, the bytes of one answer (default 83886080)",
    },
    ...clientTlsOptions,
  },
  example: "xdstp status 127.0.0.1:18000 --watch",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [typed, ...more] = call.positionals;
  takeNoMore(more, "; one server is asked");
  const server = askedEndpoint("the server", typed, io);
  if (server === undefined)
    throw new CliError(2, `which server? Give HOST:PORT, or set ${serverVariable}`);
  const options: StatusOptions = {
    server: server.endpoint,
    tls: clientTlsPaths(call, io.cwd),
    json: call.flag("json"),
    watch: call.flag("watch"),
    failOnNack: call.flag("fail-on-nack"),
    failIfNone: call.flag("fail-if-none"),
    timeoutMs: secondsFlag(call, "timeout", 3_600) ?? 5_000,
    limits: await limitsFlag(call, statusLimits),
    node: call.text("node"),
  };
  const { status } = await import("./status.ts");
  return namingSource(server, async () => status(options, io));
}
