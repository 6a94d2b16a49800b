import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { findGoPeer, findPgvOracle } from "./go-peer.ts";
import { findJavaPeer } from "./java-peer.ts";
import type { Program } from "./program.ts";

/** A foreign program that suites are about. */
export type ProgramName =
  | "envoy"
  | "grpcio"
  | "grpc-js-xds"
  | "grpc-go"
  | "grpc-java"
  | "go-control-plane"
  | "protoc-gen-validate";

/** Those that are gRPC clients. */
export type GrpcProgram = Exclude<
  ProgramName,
  "envoy" | "go-control-plane" | "protoc-gen-validate"
>;

const finders: Readonly<Record<ProgramName, () => Program>> = {
  envoy: findEnvoy,
  grpcio: findGrpcio,
  "grpc-js-xds": findGrpcJs,
  "grpc-go": () => findGoPeer("grpc-go"),
  "grpc-java": findJavaPeer,
  "go-control-plane": () => findGoPeer("go-control-plane"),
  "protoc-gen-validate": findPgvOracle,
};
const known = new Map<ProgramName, Program>();

/** Looks for a program, once: Envoy in ENVOY_BIN or on the PATH, grpcio in the Python of PYTHON or `python3`, grpc-js-xds among the installed packages, grpc-go and go-control-plane as {@link findGoPeer} does, grpc-java as {@link findJavaPeer} does, protoc-gen-validate as {@link findPgvOracle} does. */
export function findProgram(name: ProgramName): Program {
  const program = known.get(name) ?? finders[name]();
  known.set(name, program);
  return program;
}

const wayOut = "run `node packages/real-clients/setup.mjs FOLDER` and do as it says";

function findEnvoy(): Program {
  const command = process.env.ENVOY_BIN ?? "envoy";
  const version = /\/(\d+\.\d+\.\d+[^/]*)\//.exec(run(command, ["--version"]))?.[1];
  if (version !== undefined) return { found: true, command, version };
  return {
    found: false,
    reason: `${command} is not an Envoy that runs; set ENVOY_BIN, or ${wayOut}`,
  };
}

function findGrpcio(): Program {
  const command = process.env.PYTHON ?? "python3";
  const version = /^grpcio (\S+)/m.exec(
    run(command, ["-c", "import grpc; print('grpcio', grpc.__version__)"]),
  )?.[1];
  if (version !== undefined) return { found: true, command, version };
  return { found: false, reason: `${command} has no grpcio; set PYTHON, or ${wayOut}` };
}

function findGrpcJs(): Program {
  const { version } = createRequire(import.meta.url)("@grpc/grpc-js-xds/package.json") as {
    readonly version: string;
  };
  return { found: true, command: process.execPath, version };
}

function run(command: string, args: readonly string[]): string {
  const { stdout, error } = spawnSync(command, args, { encoding: "utf8" });
  return error === undefined ? stdout : "";
}
