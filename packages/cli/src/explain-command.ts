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

/** `xdstp explain`: explains why a client has a version of a resource, or does not have it. */
export const explainCommand: Command = {
  name: "explain",
  summary: "Explain why a client has a version of a resource, or does not have it.",
  usage:
    "xdstp explain NODE NAME [--type TYPE] [--server HOST:PORT] [--json] [--timeout SECONDS] [--tls] [--tls-ca FILE] [--tls-cert FILE --tls-key FILE]",
  notes: [
    "NODE is the id of the client's node, whole; `xdstp status` lists them. NAME is an xdstp name, or an opaque name with --type.",
    "Without --server it asks the server that the environment variable XDSTP_SERVER names. `xdstp serve` and `xdstp relay` explain; of other servers with CSDS it shows what client status says.",
    "The exit code is 0 if the client has the newest version, 1 if it does not.",
  ],
  options: {
    type: { value: "TYPE", help: "the type of an opaque name: clusters, or a full message name" },
    server: { value: "HOST:PORT", help: "the management server to ask" },
    json: { help: "one JSON object" },
    timeout: { value: "SECONDS", help: "how long to wait for an answer (default 5)" },
    ...clientTlsOptions,
  },
  example: "xdstp explain envoy-1 web --type clusters --server 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [node, name, ...more] = call.positionals;
  if (node === undefined || node === "")
    throw new CliError(2, "which client? Give the id of its node");
  if (name === undefined) throw new CliError(2, "which resource? Give its name");
  takeNoMore(more, "; one name is explained");
  const { askedName, ownTypeUrl } = await import("./asked-name.ts");
  const asked = askedName(call, name);
  if (asked.kind === "glob")
    throw new CliError(2, `${JSON.stringify(name)} is a collection; give the name of one resource`);
  const server = askedEndpoint("--server", call.text("server"), io);
  if (server === undefined)
    throw new CliError(2, `which server? Give --server HOST:PORT, or set ${serverVariable}`);
  const options = {
    server: server.endpoint,
    tls: clientTlsPaths(call, io.cwd),
    json: call.flag("json"),
    timeoutMs: secondsFlag(call, "timeout", 3_600) ?? 5_000,
    question: { node, typeUrl: ownTypeUrl(asked), name },
  };
  const { explainClient } = await import("./explain-client.ts");
  return namingSource(server, async () => explainClient(options, io));
}
