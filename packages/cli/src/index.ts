/**
 * The `xdstp` command as a function.
 *
 * @example
 * ```ts
 * import { runCli } from "@xdstp/cli";
 *
 * process.exitCode = await runCli(["bootstrap", "grpc"]);
 * ```
 * @packageDocumentation
 */
export { runCli } from "./run-cli.ts";
export type { CliIo, StopSignal, TerminalSize, TextOutput } from "./cli-io.ts";
