import { parseName, printName } from "@xdstp/uri";
import { dump } from "js-yaml";
import type { BootstrapOptions } from "./bootstrap-options.ts";
import { CliError } from "./cli-error.ts";
import { clientTlsFlags, clientTlsOptions } from "./client-tls-flags.ts";
import type { CliIo } from "./cli-io.ts";
import type { Command, CommandCall } from "./command.ts";
import { envoyBootstrap } from "./envoy-bootstrap.ts";
import { escapeJson } from "./escape-text.ts";
import { grpcBootstrap } from "./grpc-bootstrap.ts";
import { parseEndpoint } from "./parse-endpoint.ts";

/** `xdstp bootstrap`: prints what a client is started with. */
export const bootstrapCommand: Command = {
  name: "bootstrap",
  summary: "Print a bootstrap with which Envoy or a gRPC program takes its configuration from a server.",
  usage: "xdstp bootstrap envoy|grpc [--server HOST:PORT] [--variant sotw|delta] [--names ads|xdstp] [--authority NAME] [--node ID] [--cluster NAME] [--tls | --tls-ca FILE] [--tls-cert FILE --tls-key FILE] [--json]",
  notes: [
    "With --names ads Envoy asks for everything, and a gRPC program for opaque names; with --names xdstp both ask for names of one authority.",
    "Where the server has TLS, give --tls or --tls-ca, and --tls-cert with --tls-key where it asks clients for a certificate. HOST has to be in the certificate of the server. The files are named in the bootstrap as they are typed, and read by the client.",
    "YAML for Envoy: start it with `envoy -c FILE`. JSON for gRPC: put it in a file and its path in GRPC_XDS_BOOTSTRAP, and call `xds:///SERVICE`.",
  ],
  options: {
    server: { value: "HOST:PORT", help: "where the server listens (default 127.0.0.1:18000)" },
    variant: { value: "sotw|delta", help: "the variant of the protocol, for Envoy (default delta)" },
    names: { value: "ads|xdstp", help: "how resources are asked for (default ads, or xdstp where --authority is given)" },
    authority: { value: "NAME", help: "the authority of xdstp names: the name of a folder in what is served" },
    node: { value: "ID", help: "which client this is, for people (default: envoy or grpc)" },
    cluster: { value: "NAME", help: "the group that the client belongs to (default: default)" },
    ...clientTlsOptions,
    json: { help: "JSON, also for Envoy" },
  },
  example: "xdstp bootstrap envoy --server 127.0.0.1:18000 > envoy.yaml && envoy -c envoy.yaml",
  run: async (call, io) => Promise.resolve(run(call, io)),
};

function run(call: CommandCall, { stdout }: CliIo): number {
  const [kind, ...more] = call.positionals;
  if (kind !== "envoy" && kind !== "grpc") throw new CliError(2, kind === undefined ? "for what, envoy or grpc?" : `there is no bootstrap for ${JSON.stringify(kind)}, only for envoy and grpc`);
  if (more.length > 0) throw new CliError(2, `${JSON.stringify(more[0])} is one argument too many`);
  const options = optionsOf(call, kind);
  const variant = choice(call, "variant", ["sotw", "delta"]) ?? (kind === "envoy" ? "delta" : "sotw");
  if (kind === "grpc" && variant === "delta") throw new CliError(2, "--variant delta: gRPC programs know only sotw");
  const bootstrap = kind === "envoy" ? envoyBootstrap({ ...options, variant }) : grpcBootstrap(options);
  stdout.write(kind === "grpc" || call.flag("json") ? `${escapeJson(JSON.stringify(bootstrap, undefined, 2))}\n` : dump(bootstrap, { lineWidth: -1, noRefs: true }));
  return 0;
}

function optionsOf(call: CommandCall, kind: string): BootstrapOptions {
  const authority = authorityOf(call);
  const tls = clientTlsFlags(call);
  return {
    server: parseEndpoint("--server", call.text("server") ?? "127.0.0.1:18000", 1),
    node: call.text("node") ?? kind,
    cluster: call.text("cluster") ?? "default",
    ...(authority !== undefined && { authority }),
    ...(tls && { tls }),
  };
}

function authorityOf(call: CommandCall): string | undefined {
  const authority = call.text("authority");
  const names = choice(call, "names", ["ads", "xdstp"]) ?? (authority === undefined ? "ads" : "xdstp");
  if (names === "ads" && authority !== undefined) throw new CliError(2, "--names ads asks for names of no authority; leave --authority out, or take --names xdstp");
  if (names === "ads") return undefined;
  if (authority === undefined) throw new CliError(2, "--names xdstp needs --authority NAME: the name of a folder in what is served");
  return checked(authority);
}

/** An authority is good if a name with it says the same when it is read again. */
function checked(authority: string): string {
  const text = printName({ scheme: "xdstp", authority, resourceType: "a.B", id: "c", contextParams: new Map() });
  const read = parseName(text);
  if (read.ok && read.value.authority === authority) return authority;
  throw new CliError(2, `--authority ${JSON.stringify(authority)}: ${read.ok ? "this is no authority" : read.error.message}`);
}

function choice<const T extends string>(call: CommandCall, name: string, known: readonly T[]): T | undefined {
  const text = call.text(name);
  const found = known.find((one) => one === text);
  if (text !== undefined && found === undefined) throw new CliError(2, `--${name} ${JSON.stringify(text)}: give ${known.join(" or ")}`);
  return found;
}
