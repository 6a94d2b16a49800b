import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "./program.ts";

const folder = join(import.meta.dirname, "../go-peer");
const modules = {
  "go-control-plane": "github.com/envoyproxy/go-control-plane",
  "grpc-go": "google.golang.org/grpc",
};
let command: string | Error | undefined;

/** The program in Go that is a control plane and a gRPC client: GO_PEER_BIN, or built with the Go of GO or of the PATH. */
export function findGoPeer(name: keyof typeof modules): Program {
  command ??= process.env.GO_PEER_BIN ?? build(process.env.GO ?? "go");
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
    ? { found: false, reason: `${command} does not run; leave GO_PEER_BIN out to have it built` }
    : { found: true, command, version };
}

function build(go: string): string | Error {
  const target = join(tmpdir(), `xdstp-go-peer-${process.getuid?.() ?? ""}`);
  const { status, stderr, error } = spawnSync(go, ["build", "-mod=readonly", "-o", target, "."], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status === 0) return target;
  return new Error(
    `${go} cannot build packages/real-clients/go-peer: ${error?.message ?? stderr.slice(-500)}; set GO to a Go of 1.21 or newer, or GO_PEER_BIN to what it has built`,
  );
}
