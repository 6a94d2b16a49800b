import { CliError } from "./cli-error.ts";
import { clientsOf, clientsOption } from "./clients-flag.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore } from "./command.ts";
import {
  listenOptions,
  serverFlags,
  serverOptions,
  serverUsage,
  shownNote,
} from "./server-flags.ts";

/** `xdstp serve`: serves a folder as a management server. */
export const serveCommand: Command = {
  name: "serve",
  summary: "Serve a folder of YAML, JSON and protobuf files over xDS, and follow every edit.",
  usage: `xdstp serve DIR [--listen HOST:PORT] [--json] [--descriptors FILE]... [--partial] [--for envoy|grpc]... [--allow CODE]... [--allow-mass-delete] [--authority NAME]... [--node-key FIELD] ${serverUsage}`,
  notes: [
    "DIR/AUTHORITY/TYPE/ID.yaml is the resource xdstp://AUTHORITY/TYPE/ID, and DIR/_opaque/TYPE/NAME.yaml one with a legacy name.\nTYPE is listeners, routes, clusters, endpoints, secrets, ..., or a full message name.",
    "DIR/_nodes/KEY/_opaque/TYPE/NAME.yaml replaces the resource of that name for the clients whose node has this KEY; all others see the shared one. --node-key says which field of the node it is.",
    "It listens on loopback unless told otherwise, and what it serves may hold secrets: elsewhere give it TLS, and --tls-client-ca so that only clients with a certificate are served.\nThe files of certificates are followed: new ones are shown to new connections, broken ones are not used.",
    "With --policy each client sees the names that the rule for the URI in its certificate allows, and who fits no rule is rejected; the README says how rules are written.",
    shownNote,
  ],
  options: {
    ...listenOptions,
    descriptors: {
      value: "FILE",
      multiple: true,
      help: "your own message types, as `buf build -o FILE` writes them",
    },
    partial: {
      help: "apply the good resources of edits with broken ones; what was served of a broken file stays",
    },
    allow: {
      value: "CODE",
      multiple: true,
      help: "serve what has this problem, with a warning: constraint, for gRPC clients, which do not check constraints",
    },
    for: clientsOption,
    "allow-mass-delete": {
      help: "take it as meant when most of the folder, or all of it, vanishes at once",
    },
    authority: {
      value: "NAME",
      multiple: true,
      help: "answer only for this authority (default: all that the folder holds)",
    },
    "node-key": {
      value: "FIELD",
      help: "the field of a node that selects DIR/_nodes/KEY: id, cluster, user_agent_name, locality.region, locality.zone, locality.sub_zone or metadata.PATH (default cluster)",
    },
    ...serverOptions,
  },
  example: "xdstp serve ./config --listen 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [dir, ...more] = call.positionals;
  if (dir === undefined || dir === "") throw new CliError(2, "which folder?");
  takeNoMore(more, "; one folder is served");
  const authorities = call.texts("authority");
  const flags = await serverFlags(call, io);
  // Loaded only now: the server and the Envoy API take most of a second to load.
  const { serve } = await import("./serve.ts");
  return serve(
    {
      ...flags,
      nodeKey: call.text("node-key") ?? "cluster",
      dir: pathFrom(io.cwd, dir),
      descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
      partial: call.flag("partial"),
      allow: call.texts("allow"),
      clients: clientsOf(call),
      allowMassDelete: call.flag("allow-mass-delete"),
      ...(authorities.length > 0 && { authorities }),
    },
    io,
  );
}
