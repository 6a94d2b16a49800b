import { ownVersion, processIo } from "./process-io.ts";
import { CliError, withRule } from "./cli-error.ts";
import { closest, commandHelp, overallHelp, parseCall, usageText } from "./command-line.ts";
import type { CliIo } from "./cli-io.ts";
import type { Command } from "./command.ts";
import { escapeText } from "./short-text.ts";
import { jsonText } from "./json-text.ts";

/** As `engines` of the package says. */
const oldestNode = 22;

/** In the order of the help. Each is loaded when it is called, since what one needs slows the start of another. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./serve-command.ts")).serveCommand],
  ["validate", async () => (await import("./validate-command.ts")).validateCommand],
  ["import", async () => (await import("./import-command.ts")).importCommand],
  ["export", async () => (await import("./export-command.ts")).exportCommand],
  ["plan", async () => (await import("./plan-command.ts")).planCommand],
  ["relay", async () => (await import("./relay-command.ts")).relayCommand],
  ["status", async () => (await import("./status-command.ts")).statusCommand],
  ["explain", async () => (await import("./explain-command.ts")).explainCommand],
  ["get", async () => (await import("./get-command.ts")).getCommand],
  ["watch", async () => (await import("./watch-command.ts")).watchCommand],
  ["resolve", async () => (await import("./resolve-command.ts")).resolveCommand],
  ["route-check", async () => (await import("./route-check-command.ts")).routeCheckCommand],
  ["record", async () => (await import("./record-command.ts")).recordCommand],
  ["replay", async () => (await import("./replay-command.ts")).replayCommand],
  ["lsp", async () => (await import("./lsp-command.ts")).lspCommand],
  ["schema", async () => (await import("./schema-command.ts")).schemaCommand],
  ["bootstrap", async () => (await import("./bootstrap-command.ts")).bootstrapCommand],
]);
const usage = `xdstp ${[...commands.keys()].join("|")} [ARGS]`;

/**
 * Runs the `xdstp` command: the answer is its exit code, 0 done, 1 failed, 2 called the wrong way. It does not end the process and does not reject.
 *
 * `serve`, `relay`, `watch`, `record`, `replay` and `status --watch` run until `io.onSignal` tells of a wish to stop.
 * @param argv - The arguments, without Node and the program
 * @param io - What is not given is that of this process
 */
export async function runCli(argv: readonly string[], io: Partial<CliIo> = {}): Promise<number> {
  const world: CliIo = { ...processIo(), ...io };
  const [name = "", ...args] = argv;
  let command: Command | undefined;
  try {
    command = await commands.get(name)?.();
    return command === undefined
      ? await runAlone(name, argv, world)
      : await runCommand(command, args, world);
  } catch (error) {
    const { exitCode, text } = failureText(error, {
      name: command?.name,
      usage: command?.usage ?? usage,
      json: hasFlag(argv, "--json"),
      time: world.clock.wallTime(),
    });
    world.stderr.write(`${text}\n`);
    return exitCode;
  }
}

async function runAlone(name: string, argv: readonly string[], { stdout }: CliIo): Promise<number> {
  const topic = name === "help" ? argv.slice(1).find((word) => !word.startsWith("-")) : undefined;
  if (topic !== undefined) stdout.write(commandHelp(await commandOf(topic)));
  else if (asksForHelp(argv) || name === "help")
    stdout.write(
      overallHelp(await Promise.all([...commands.values()].map(async (load) => load()))),
    );
  else if (["--version", "-V", "version"].includes(name)) stdout.write(`${ownVersion()}\n`);
  else await commandOf(name);
  return 0;
}

async function commandOf(name: string): Promise<Command> {
  const load = commands.get(name);
  if (load !== undefined) return load();
  const meant = closest(name, [...commands.keys()]);
  throw new CliError(
    2,
    name === ""
      ? "which command?"
      : `the command ${JSON.stringify(name)} does not exist${meant === undefined ? "" : `; did you mean ${meant}?`}`,
  );
}

async function runCommand(command: Command, args: readonly string[], io: CliIo): Promise<number> {
  if (!asksForHelp(args)) {
    checkNode(io.nodeVersion);
    return command.run(parseCall(command, args), io);
  }
  io.stdout.write(commandHelp(command));
  return 0;
}

/** An older Node fails somewhere in the middle, and in no words that help. */
function checkNode(version: string): void {
  if (Number.parseInt(version, 10) < oldestNode)
    throw new CliError(
      1,
      `Node ${oldestNode} or newer is needed, and this is Node ${version}; install a newer Node`,
    );
}

function asksForHelp(args: readonly string[]): boolean {
  return hasFlag(args, "--help", "-h");
}

/** Behind `--` there are no options. */
function hasFlag(args: readonly string[], ...flags: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).some((arg) => flags.includes(arg));
}

/** The call whose failure {@link failureText} describes. */
interface FailedCall {
  /** The command. Absent: the name is not that of a command, or none was given. */
  readonly name?: string | undefined;
  readonly usage: string;
  /** One JSON object, for programs. */
  readonly json: boolean;
  /** In milliseconds since the epoch. */
  readonly time: number;
}

/** Why a command failed, for stderr, and the exit code. Called the wrong way it gets the usage too; what is not a CliError is a fault of ours: then the place of it matters more than brevity. */
function failureText(
  error: unknown,
  { name, usage, json, time }: FailedCall,
): { readonly exitCode: 1 | 2; readonly text: string } {
  const exitCode = error instanceof CliError ? error.exitCode : 1;
  const message = messageOf(error);
  const rule = error instanceof CliError ? error.rule : undefined;
  if (json) {
    const line = {
      time: new Date(time).toISOString(),
      level: "error",
      from: name ?? "xdstp",
      event: "failed",
      exitCode,
      message,
      ...(rule !== undefined && { rule }),
      ...(exitCode === 2 && { usage }),
    };
    return { exitCode, text: jsonText(line) };
  }
  const text = `${name === undefined ? "xdstp" : `xdstp ${name}`}: ${error instanceof CliError ? escapeText(withRule(message, rule)) : message}`;
  return {
    exitCode,
    text:
      exitCode === 2
        ? `${text}\n${usageText(usage)}\nSee ${name === undefined ? "xdstp --help" : `xdstp ${name} --help`}`
        : text,
  };
}

function messageOf(error: unknown): string {
  if (error instanceof CliError) return error.message;
  return `this should not happen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}
