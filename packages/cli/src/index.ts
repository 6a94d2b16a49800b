/**
 * The `xdstp` command as a function, and the bootstraps that it prints as plain objects.
 *
 * @example
 * ```ts
 * import { runCli } from "@xdstp/cli";
 *
 * process.exitCode = await runCli(["bootstrap", "grpc"]);
 * ```
 * @packageDocumentation
 */
export { envoyBootstrap, type EnvoyBootstrap } from "./envoy-bootstrap.ts";
export { type BootstrapOptions, grpcBootstrap, type GrpcBootstrap } from "./grpc-bootstrap.ts";
export { runCli } from "./run-cli.ts";
export type { ClientTlsFiles } from "./asked-server.ts";
export type { CliIo, StopSignal, TerminalSize, TextOutput } from "./cli-io.ts";
export type { Endpoint } from "./endpoint.ts";
