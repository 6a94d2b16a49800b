import { ownVersion } from "./own-version.ts";
import { bootstrapCommand } from "./bootstrap-command.ts";
import { CliError } from "./cli-error.ts";
import { closest } from "./closest.ts";
import type { CliIo } from "./cli-io.ts";
import type { Command } from "./command.ts";
import { failureText } from "./failure-text.ts";
import { commandHelp, overallHelp } from "./help-text.ts";
import { getCommand } from "./get-command.ts";
import { parseCall } from "./parse-call.ts";
import { processIo } from "./process-io.ts";
import { recordCommand } from "./record-command.ts";
import { relayCommand } from "./relay-command.ts";
import { replayCommand } from "./replay-command.ts";
import { resolveCommand } from "./resolve-command.ts";
import { serveCommand } from "./serve-command.ts";
import { statusCommand } from "./status-command.ts";
import { watchCommand } from "./watch-command.ts";

const commands: readonly Command[] = [
  serveCommand,
  relayCommand,
  statusCommand,
  getCommand,
  watchCommand,
  resolveCommand,
  recordCommand,
  replayCommand,
  bootstrapCommand,
];
const usage = `xdstp ${commands.map(({ name }) => name).join("|")} [ARGS]`;

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
  const command = commands.find((one) => one.name === name);
  try {
    return command === undefined
      ? runAlone(name, argv, world)
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

function runAlone(name: string, argv: readonly string[], { stdout }: CliIo): number {
  const topic = name === "help" ? argv.slice(1).find((word) => !word.startsWith("-")) : undefined;
  if (topic !== undefined) stdout.write(commandHelp(commandOf(topic)));
  else if (asksForHelp(argv) || name === "help") stdout.write(overallHelp(commands));
  else if (["--version", "-V", "version"].includes(name)) stdout.write(`${ownVersion()}\n`);
  else commandOf(name);
  return 0;
}

function commandOf(name: string): Command {
  const command = commands.find((one) => one.name === name);
  if (command !== undefined) return command;
  const meant = closest(
    name,
    commands.map((one) => one.name),
  );
  throw new CliError(
    2,
    name === ""
      ? "which command?"
      : `there is no command ${JSON.stringify(name)}${meant === undefined ? "" : `; did you mean ${meant}?`}`,
  );
}

async function runCommand(command: Command, args: readonly string[], io: CliIo): Promise<number> {
  if (!asksForHelp(args)) return command.run(parseCall(command, args), io);
  io.stdout.write(commandHelp(command));
  return 0;
}

function asksForHelp(args: readonly string[]): boolean {
  return hasFlag(args, "--help", "-h");
}

/** Behind `--` there are no options. */
function hasFlag(args: readonly string[], ...flags: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).some((arg) => flags.includes(arg));
}
