import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "./program.ts";

const folder = join(import.meta.dirname, "../go-peer");
const modules = {
  "go-control-plane": "github.com/envoyproxy/go-control-plane",
  "grpc-go": "google.golang.org/grpc",
  "protoc-gen-validate": "github.com/envoyproxy/protoc-gen-validate",
};

/** A package with a `main` in the module of Go, and the variable that says where it was built before. */
const goPrograms = {
  "go-peer": { path: ".", variable: "GO_PEER_BIN" },
  "pgv-oracle": { path: "./pgv-oracle", variable: "PGV_ORACLE_BIN" },
} as const;
const commands = new Map<keyof typeof goPrograms, string | Error>();

/** The program in Go that is a control plane and a gRPC client: GO_PEER_BIN, or built with the Go of GO or of the PATH. */
export function findGoPeer(name: "go-control-plane" | "grpc-go"): Program {
  return findGoProgram("go-peer", name);
}

/** The program in Go that checks messages by the generated code of protoc-gen-validate: PGV_ORACLE_BIN, or built as {@link findGoPeer} does. */
export function findPgvOracle(): Program {
  return findGoProgram("pgv-oracle", "protoc-gen-validate");
}

function findGoProgram(program: keyof typeof goPrograms, name: keyof typeof modules): Program {
  const command =
    commands.get(program) ?? process.env[goPrograms[program].variable] ?? build(program);
  commands.set(program, command);
  if (command instanceof Error) return { found: false, reason: command.message };
  const { stdout, error } = spawnSync(command, ["version"], { encoding: "utf8" });
  const version =
    error === undefined
      ? stdout
          .split("\n")
          .find((line) => line.startsWith(`${modules[name]} `))
          ?.split(" ")[1]
      : undefined;
  return version === undefined
    ? {
        found: false,
        reason: `${command} does not run; leave ${goPrograms[program].variable} out to have it built`,
      }
    : { found: true, command, version };
}

function build(program: keyof typeof goPrograms): string | Error {
  const go = process.env.GO ?? "go";
  const { path, variable } = goPrograms[program];
  const target = join(tmpdir(), `xdstp-${program}-${process.getuid?.() ?? ""}`);
  const { status, stderr, error } = spawnSync(go, ["build", "-mod=readonly", "-o", target, path], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status === 0) return target;
  return new Error(
    `${go} cannot build packages/real-clients/go-peer: ${error?.message ?? stderr.slice(-500)}; set GO to a Go of 1.21 or newer, or ${variable} to what it has built`,
  );
}
