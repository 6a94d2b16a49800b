import { parseName, printName } from "@xdstp/uri";
import { type BootstrapOptions, grpcBootstrap } from "./grpc-bootstrap.ts";
import { CliError } from "./cli-error.ts";
import { clientTlsFlags, clientTlsOptions } from "./asked-server.ts";
import type { CliIo } from "./cli-io.ts";
import { type Command, type CommandCall, pathFrom, takeNoMore, wordFlag } from "./command.ts";
import type { ConnectionOptions } from "./envoy-bootstrap.ts";
import { escapeJson } from "./short-text.ts";
import { type Endpoint, parseEndpoint, parseListen } from "./endpoint.ts";

/** `xdstp bootstrap`: prints the bootstrap of a client. */
export const bootstrapCommand: Command = {
  name: "bootstrap",
  summary:
    "Print a bootstrap with which Envoy or a gRPC program takes its configuration from a server.",
  usage:
    "xdstp bootstrap envoy|grpc [--server HOST:PORT] [--variant sotw|delta|rest] [--names ads|xdstp] [--authority NAME]... [--admin HOST:PORT] [--merge FILE] [--node ID] [--cluster NAME] [--tls | --tls-ca FILE] [--tls-cert FILE --tls-key FILE] [--json]",
  notes: [
    "With --names ads Envoy subscribes to everything, and a gRPC program to opaque names. With --names xdstp both subscribe to xdstp names: Envoy to those of one authority, a gRPC program to those of each --authority, of which the first is the default.",
    "Where the server has TLS, give --tls or --tls-ca, and --tls-cert with --tls-key where it asks clients for a certificate. HOST has to be in the certificate of the server. The files are named in the bootstrap as they are typed, and read by the client.",
    "With --merge a node, an admin page and static resources that FILE has stay as they are, with their comments; what an earlier call put there is replaced. To move static resources into a folder, use `xdstp import envoy`.",
    "With --variant rest Envoy polls for listeners and clusters each second. Routes and endpoints are polled too if the files that refer to them name the same source in place of `ads: {}`.",
    "YAML for Envoy: start it with `envoy -c FILE`. JSON for gRPC: put it in a file and its path in GRPC_XDS_BOOTSTRAP, and call `xds:///SERVICE`.",
  ],
  options: {
    server: { value: "HOST:PORT", help: "where the server listens (default 127.0.0.1:18000)" },
    variant: {
      value: "sotw|delta|rest",
      help: "the variant of the protocol, for Envoy; rest polls a server with --rest over HTTP (default delta)",
    },
    names: {
      value: "ads|xdstp",
      help: "how resources are requested (default ads, or xdstp where --authority is given)",
    },
    authority: {
      value: "NAME",
      multiple: true,
      help: "the authority of xdstp names: the name of a folder in what is served; for gRPC it may be given several times",
    },
    admin: {
      value: "HOST:PORT",
      help: "where the admin page of Envoy listens; PORT alone is on loopback (default 127.0.0.1:0, a free port)",
    },
    merge: {
      value: "FILE",
      help: "a configuration with which Envoy starts, YAML or JSON: it is printed with its static resources and all else, and the connection to the server",
    },
    node: { value: "ID", help: "which client this is, for people (default: envoy or grpc)" },
    cluster: { value: "NAME", help: "the group that the client belongs to (default: default)" },
    ...clientTlsOptions,
    json: { help: "JSON, also for Envoy" },
  },
  example: "xdstp bootstrap envoy --server 127.0.0.1:18000 > envoy.yaml && envoy -c envoy.yaml",
  run,
};

async function run(call: CommandCall, { stdout, cwd }: CliIo): Promise<number> {
  const [kind, ...more] = call.positionals;
  if (kind !== "envoy" && kind !== "grpc")
    throw new CliError(
      2,
      kind === undefined
        ? "for what, envoy or grpc?"
        : `a bootstrap for ${JSON.stringify(kind)} does not exist, only for envoy and grpc`,
    );
  takeNoMore(more, "");
  const options = optionsOf(call, kind);
  const variant =
    wordFlag(call, "variant", ["sotw", "delta", "rest"]) ?? (kind === "envoy" ? "delta" : "sotw");
  if (kind === "grpc" && variant !== "sotw")
    throw new CliError(2, `--variant ${variant}: gRPC programs know only sotw`);
  if (variant === "rest" && options.authorities.length > 0)
    throw new CliError(
      2,
      "--variant rest: Envoy polls for opaque names only; leave --authority and --names xdstp out",
    );
  if (kind === "grpc" && call.text("admin") !== undefined)
    throw new CliError(2, "--admin is for Envoy: a gRPC program has no admin page");
  const merge = call.text("merge");
  if (kind === "grpc" && merge !== undefined)
    throw new CliError(2, "--merge is for Envoy: a gRPC program has no other configuration");
  if (merge !== undefined) {
    if (call.flag("json")) throw new CliError(2, "--merge prints YAML; leave --json out");
    stdout.write(await merged(call, cwd, merge, { ...options, variant }));
    return 0;
  }
  const bootstrap =
    kind === "envoy"
      ? await bootstrapOfEnvoy({ ...options, variant, admin: adminOf(call) })
      : grpcBootstrap(options);
  stdout.write(
    kind === "grpc" || call.flag("json")
      ? `${escapeJson(JSON.stringify(bootstrap, undefined, 2))}\n`
      : (await import("js-yaml")).dump(bootstrap, { lineWidth: -1, noRefs: true }),
  );
  return 0;
}

/** Loaded here, since the help of all commands does not need the types of Envoy. */
async function bootstrapOfEnvoy(
  options: ConnectionOptions & { readonly admin: Endpoint },
): Promise<object> {
  const { envoyBootstrap } = await import("./envoy-bootstrap.ts");
  return envoyBootstrap(options);
}

async function merged(
  call: CommandCall,
  cwd: string,
  file: string,
  options: ConnectionOptions,
): Promise<string> {
  const { formatProblem, mergeBootstrap } = await import("@xdstp/folder");
  const { loadRegistry } = await import("./load-registry.ts");
  const { adminAt, envoyConnection } = await import("./envoy-bootstrap.ts");
  const { bootstrap, problems } = await mergeBootstrap({
    file: pathFrom(cwd, file),
    registry: await loadRegistry([]),
    connection: {
      ...envoyConnection(options),
      ...(call.text("admin") !== undefined && { admin: adminAt(adminOf(call)) }),
    },
  });
  if (problems.length > 0) throw new CliError(1, problems.map(formatProblem).join("\n"));
  return bootstrap.text;
}

function optionsOf(call: CommandCall, kind: string): BootstrapOptions {
  const authorities = authoritiesOf(call);
  if (kind === "envoy" && authorities.length > 1)
    throw new CliError(
      2,
      `--authority is given ${authorities.length} times (${authorities.join(", ")}): Envoy follows the listeners and clusters of one authority; give it once, names of other authorities that these refer to need no entry`,
    );
  const tls = clientTlsFlags(call);
  return {
    server: parseEndpoint("--server", call.text("server") ?? "127.0.0.1:18000", 1),
    node: call.text("node") ?? kind,
    cluster: call.text("cluster") ?? "default",
    authorities,
    ...(tls && { tls }),
  };
}

function adminOf(call: CommandCall): Endpoint {
  return parseListen("--admin", call.text("admin") ?? "0");
}

function authoritiesOf(call: CommandCall): readonly string[] {
  const authorities = [...new Set(call.texts("authority"))];
  const names =
    wordFlag(call, "names", ["ads", "xdstp"]) ?? (authorities.length === 0 ? "ads" : "xdstp");
  if (names === "ads" && authorities.length > 0)
    throw new CliError(
      2,
      "--names ads asks for names of no authority; leave --authority out, or take --names xdstp",
    );
  if (names === "xdstp" && authorities.length === 0)
    throw new CliError(
      2,
      "--names xdstp needs --authority NAME: the name of a folder in what is served",
    );
  return authorities.map(checked);
}

/** Throws a CliError unless a name with this authority has the same authority when it is parsed. */
function checked(authority: string): string {
  const text = printName({
    scheme: "xdstp",
    authority,
    resourceType: "a.B",
    id: "c",
    contextParams: new Map(),
  });
  const read = parseName(text);
  if (read.ok && read.value.authority === authority) return authority;
  throw new CliError(
    2,
    `--authority ${JSON.stringify(authority)}: ${read.ok ? "this is not an authority" : read.error.message}`,
    read.ok ? {} : { rule: read.error.rule },
  );
}
