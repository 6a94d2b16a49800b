import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import type { Command, CommandCall } from "./command.ts";
import { clash, type Endpoint, formatEndpoint, parseEndpoint } from "./parse-endpoint.ts";
import { pathFrom } from "./path-from.ts";
import type { TlsFiles } from "./tls-files.ts";

/** `xdstp serve`: a folder becomes a management server. */
export const serveCommand: Command = {
  name: "serve",
  summary: "Serve a folder of YAML, JSON and protobuf files over xDS, and follow every edit.",
  usage: "xdstp serve DIR [--listen HOST:PORT] [--json] [--descriptors FILE]... [--allow-mass-delete] [--authority NAME]... [--control-plane NAME] [--metrics HOST:PORT] [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE [--policy FILE]]]",
  notes: [
    "DIR/AUTHORITY/TYPE/ID.yaml is the resource xdstp://AUTHORITY/TYPE/ID, and DIR/_opaque/TYPE/NAME.yaml one with a legacy name.\nTYPE is listeners, routes, clusters, endpoints, secrets, ..., or a full message name.",
    "It listens on loopback unless told otherwise, and what it serves may hold secrets: elsewhere give it TLS, and --tls-client-ca so that only clients with a certificate are served.\nThe files of certificates are followed: new ones are shown to new connections, broken ones are not used.",
    "With --policy each client sees the names that the rule for the URI in its certificate allows, and who fits no rule is refused; the README says how rules are written.",
    "On a terminal it shows a table of clients and types; elsewhere one event per line. Ctrl-C ends it in order, once more at once.",
  ],
  options: {
    listen: { value: "HOST:PORT", help: "where to listen (default 127.0.0.1:18000); port 0 takes a free one" },
    json: { help: "one JSON object per event and line, on a terminal too" },
    descriptors: { value: "FILE", multiple: true, help: "your own message types, as `buf build -o FILE` writes them" },
    "allow-mass-delete": { help: "take it as meant when most of the folder, or all of it, vanishes at once" },
    authority: { value: "NAME", multiple: true, help: "answer only for this authority (default: all that the folder holds)" },
    "control-plane": { value: "NAME", help: "how the server calls itself towards clients (default xdstp)" },
    metrics: { value: "HOST:PORT", help: "serve /metrics for Prometheus, /healthz and /readyz there, over HTTP; PORT alone is on loopback" },
    "tls-cert": { value: "FILE", help: "the certificate of the server and those between it and its authority, PEM" },
    "tls-key": { value: "FILE", help: "its private key, PEM" },
    "tls-client-ca": { value: "FILE", help: "serve only clients with a certificate that one of these authorities has signed, PEM" },
    policy: { value: "FILE", help: "rules by identity that say which names each client may see; the file is followed" },
  },
  example: "xdstp serve ./config --listen 127.0.0.1:18000",
  run,
};

async function run(call: CommandCall, io: CliIo): Promise<number> {
  const [dir, ...more] = call.positionals;
  if (dir === undefined || dir === "") throw new CliError(2, "which folder?");
  if (more.length > 0) throw new CliError(2, `${JSON.stringify(more[0])} is one argument too many; one folder is served`);
  const authorities = call.texts("authority");
  const controlPlane = call.text("control-plane");
  const tls = tlsFilesOf(call, io.cwd);
  const listen = parseEndpoint("--listen", call.text("listen") ?? "127.0.0.1:18000", 0);
  const metrics = metricsOf(call, listen);
  const policy = policyOf(call, tls, io.cwd);
  // Loaded only now: the server and Envoy's API take most of a second, which no other command needs.
  const { serve } = await import("./serve.ts");
  return serve({
    dir: pathFrom(io.cwd, dir),
    listen,
    descriptors: call.texts("descriptors").map((file) => pathFrom(io.cwd, file)),
    json: call.flag("json"),
    allowMassDelete: call.flag("allow-mass-delete"),
    ...(authorities.length > 0 && { authorities }),
    ...(controlPlane !== undefined && { controlPlane }),
    ...(tls && { tls }),
    ...(metrics && { metrics }),
    ...(policy !== undefined && { policy }),
  }, io);
}

/** Without a certificate a client has no identity, and nobody would be served. */
function policyOf(call: CommandCall, tls: TlsFiles | undefined, cwd: string): string | undefined {
  const file = call.text("policy");
  if (file !== undefined && tls?.clientCa === undefined) throw new CliError(2, "--policy goes by the certificates of clients: give --tls-client-ca too");
  return file === undefined ? undefined : pathFrom(cwd, file);
}

function metricsOf(call: CommandCall, listen: Endpoint): Endpoint | undefined {
  const text = call.text("metrics");
  if (text === undefined) return undefined;
  const metrics = parseEndpoint("--metrics", /^\d+$/.test(text) ? `127.0.0.1:${text}` : text, 0);
  if (clash(metrics, listen)) throw new CliError(2, `--metrics ${formatEndpoint(metrics)} needs another port than --listen ${formatEndpoint(listen)}; port 0 takes a free one`);
  return metrics;
}

function tlsFilesOf(call: CommandCall, cwd: string): TlsFiles | undefined {
  const [cert, key, clientCa] = ["tls-cert", "tls-key", "tls-client-ca"].map((name) => call.text(name)).map((file) => (file === undefined ? undefined : pathFrom(cwd, file)));
  if (cert !== undefined && key !== undefined) return { cert, key, ...(clientCa !== undefined && { clientCa }) };
  if (cert === undefined && key === undefined && clientCa === undefined) return undefined;
  throw new CliError(2, "TLS needs both --tls-cert and --tls-key");
}
