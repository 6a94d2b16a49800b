import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
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
  | "protoc-gen-validate"
  | "chromium"
  | "nginx"
  | "varnish"
  | "bun"
  | "deno"
  | "workerd"
  | "openfeature-flagd-js"
  | "openfeature-flagd-python"
  | "openfeature-ofrep-web";

/** Those that are gRPC clients. */
export type GrpcProgram = Extract<ProgramName, "grpcio" | "grpc-js-xds" | "grpc-go" | "grpc-java">;

const finders: Readonly<Record<ProgramName, () => Program>> = {
  envoy: findEnvoy,
  grpcio: findGrpcio,
  "grpc-js-xds": () => findInstalled("@grpc/grpc-js-xds"),
  "grpc-go": () => findGoPeer("grpc-go"),
  "grpc-java": findJavaPeer,
  "go-control-plane": () => findGoPeer("go-control-plane"),
  "protoc-gen-validate": findPgvOracle,
  chromium: () => findTool("CHROMIUM_BIN", "chromium-headless-shell", "--version", /^\D*([\d.]+)/),
  nginx: () => findTool("NGINX_BIN", "nginx", "-v", /^nginx version: nginx\/(\S+)/),
  varnish: () => findTool("VARNISHD_BIN", "varnishd", "-V", /^varnishd \(varnish-(\S+)/),
  bun: () => findRuntime("bun", /^(\d\S*)/),
  deno: () => findRuntime("deno", /^deno (\S+)/),
  workerd: () => findRuntime("workerd", /^workerd (\S+)/),
  "openfeature-flagd-js": () => findInstalled("@openfeature/flagd-provider"),
  "openfeature-flagd-python": findFlagdInPython,
  "openfeature-ofrep-web": () => findInstalled("@openfeature/ofrep-web-provider"),
};
const known = new Map<ProgramName, Program>();

/** Looks for a program, once: Envoy in ENVOY_BIN or on the PATH, grpcio in the Python of PYTHON or `python3`, grpc-js-xds and the providers of OpenFeature among the installed packages and in that Python, grpc-go and go-control-plane as {@link findGoPeer} does, grpc-java as {@link findJavaPeer} does, protoc-gen-validate as {@link findPgvOracle} does, Chromium, nginx and Varnish in CHROMIUM_BIN, NGINX_BIN and VARNISHD_BIN or on the PATH, Bun, Deno and workerd in the folder RUNTIMES_BIN or on the PATH. */
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

/** A program that is an installed package of npm and runs in this Node. */
function findInstalled(name: string): Program {
  const { version } = createRequire(import.meta.url)(`${name}/package.json`) as {
    readonly version: string;
  };
  return { found: true, command: process.execPath, version };
}

function findFlagdInPython(): Program {
  const command = process.env.PYTHON ?? "python3";
  const script =
    "from importlib.metadata import version; print('flagd', version('openfeature-provider-flagd'))";
  const version = /^flagd (\S+)/m.exec(run(command, ["-c", script]))?.[1];
  if (version !== undefined) return { found: true, command, version };
  return {
    found: false,
    reason: `${command} has no openfeature-provider-flagd; set PYTHON, or ${wayOut}`,
  };
}

/** A program of the distribution, named by a variable or found on the PATH. Some print their version to the error output. */
function findTool(variable: string, name: string, option: string, pattern: RegExp): Program {
  const command = onPath(process.env[variable] ?? name);
  const version = pattern.exec(run(command, [option]))?.[1];
  if (version !== undefined) return { found: true, command, version };
  return {
    found: false,
    reason: `${command} does not run; set ${variable}, or install it (Debian: apt-get install chromium-headless-shell nginx-light varnish)`,
  };
}

/** A runtime that `.ci/runtimes` pins: in the folder RUNTIMES_BIN, or on the PATH. */
function findRuntime(name: string, pattern: RegExp): Program {
  const folder = process.env.RUNTIMES_BIN;
  const command = folder === undefined ? name : join(folder, name);
  const version = pattern.exec(run(command, ["--version"]))?.[1];
  if (version !== undefined) return { found: true, command, version };
  return {
    found: false,
    reason: `${command} does not run; run \`npm ci --prefix .ci/runtimes\` and set RUNTIMES_BIN to the path of .ci/runtimes/node_modules/.bin`,
  };
}

/** Returns the path of a command, which playwright needs; the command itself if it is nowhere on the PATH. */
function onPath(command: string): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.map((folder) => join(folder, command)).find((file) => existsSync(file)) ?? command;
}

function run(command: string, args: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  return error === undefined ? stdout + stderr : "";
}
