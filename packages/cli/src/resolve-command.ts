import { askFlags, askOptions, askUsage, tlsUsage } from "./ask-flags.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, takeNoMore } from "./command.ts";

/** Options of commands that connect to a server. `xdstp resolve` does not, so it does not have them. */
const unused: ReadonlySet<string> = new Set(["max-hops", "channel-limit"]);

/** `xdstp resolve`: shows which servers a name would be requested from. */
export const resolveCommand: Command = {
  name: "resolve",
  summary: "Show who would be asked for a name, why and in which order, without asking.",
  usage: `xdstp resolve NAME ${askUsage.replace(" [--max-hops N]", "").replace(" [--channel-limit NAME=NUMBER]...", "")} [--json] ${tlsUsage}`,
  notes: [
    "NAME is an xdstp name with its directives, a glob or list of such names, or an opaque name. The bootstrap may be one of gRPC or of Envoy.",
    "It shows the name as it is sent, its authority, what lists that, the servers in order, and then the same of each alternative. Where a name is redirected only servers know; `xdstp get` shows it.",
    "With --dns it asks DNS, and no server, for authorities that the bootstrap does not have.",
    "The exit code is 1 where no server would get the request.",
  ],
  options: {
    ...Object.fromEntries(Object.entries(askOptions).filter(([name]) => !unused.has(name))),
    json: { help: "one JSON object" },
  },
  example:
    "xdstp resolve xdstp://example.com/envoy.config.cluster.v3.Cluster/web --server 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [name, ...more] = call.positionals;
  if (name === undefined || name === "")
    throw new CliError(
      2,
      name === "" ? "a name is empty; give the name of a resource" : "which name?",
    );
  takeNoMore(more, "; one name is resolved (put # and * into quotes)");
  const { typeFlag } = await import("./asked-name.ts");
  const typeUrl = typeFlag(call);
  const { resolve } = await import("./resolve.ts");
  return resolve(
    {
      name,
      ask: await askFlags(call, io, [name]),
      json: call.flag("json"),
      ...(typeUrl !== undefined && { typeUrl }),
    },
    io,
  );
}
