import { readFileSync } from "node:fs";
import { bootstrapCommand } from "./bootstrap-command.ts";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import type { Command } from "./command.ts";
import { escapeText } from "./escape-text.ts";
import { commandHelp, overallHelp } from "./help-text.ts";
import { parseCall } from "./parse-call.ts";
import { processIo } from "./process-io.ts";
import { serveCommand } from "./serve-command.ts";
import { statusCommand } from "./status-command.ts";
import { usageText } from "./usage-text.ts";

const commands: readonly Command[] = [serveCommand, statusCommand, bootstrapCommand];

/**
 * Runs the `xdstp` command: the answer is its exit code, 0 done, 1 failed, 2 called the wrong way. It does not end the process and does not reject.
 *
 * `serve` and `status --watch` run until `io.onSignal` tells of a wish to stop.
 * @param argv - The arguments, without Node and the program
 * @param io - What is not given is that of this process
 */
export async function runCli(argv: readonly string[], io: Partial<CliIo> = {}): Promise<number> {
  const world: CliIo = { ...processIo(), ...io };
  const [name = "", ...args] = argv;
  const command = commands.find((one) => one.name === name);
  try {
    return command === undefined ? runAlone(name, argv, world) : await runCommand(command, args, world);
  } catch (error) {
    return report(error, command, world);
  }
}

function runAlone(name: string, argv: readonly string[], { stdout }: CliIo): number {
  const topic = name === "help" ? argv.slice(1).find((word) => !word.startsWith("-")) : undefined;
  if (topic !== undefined) stdout.write(commandHelp(commandOf(topic)));
  else if (asksForHelp(argv) || name === "help") stdout.write(overallHelp(commands));
  else if (name === "--version") stdout.write(`${version()}\n`);
  else commandOf(name);
  return 0;
}

function commandOf(name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  throw new CliError(2, name === "" ? "which command?" : `there is no command ${JSON.stringify(name)}`);
}

async function runCommand(command: Command, args: readonly string[], io: CliIo): Promise<number> {
  if (!asksForHelp(args)) return command.run(parseCall(command, args), io);
  io.stdout.write(commandHelp(command));
  return 0;
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).some((arg) => arg === "--help" || arg === "-h");
}

/** Whatever else is thrown is a fault of ours: then the place of it matters more than brevity. */
function report(error: unknown, command: Command | undefined, { stderr }: CliIo): 1 | 2 {
  const program = command === undefined ? "xdstp" : `xdstp ${command.name}`;
  if (!(error instanceof CliError)) {
    stderr.write(`${program}: this should not happen: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return 1;
  }
  stderr.write(`${program}: ${escapeText(error.message)}\n`);
  if (error.exitCode === 2) stderr.write(`${usageText(command?.usage ?? `xdstp ${commands.map((one) => one.name).join("|")} [ARGS]; xdstp --help says more`)}\n`);
  return error.exitCode;
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { readonly version: string };
  return manifest.version;
}
