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
export { envoyBootstrap } from "./envoy-bootstrap.ts";
export { type BootstrapOptions, grpcBootstrap } from "./grpc-bootstrap.ts";
export { runCli } from "./run-cli.ts";
export type { CliIo, TextOutput } from "./cli-io.ts";
export type { Endpoint } from "./endpoint.ts";
export type { TransportListener, TransportPackage } from "./load-transports.ts";
