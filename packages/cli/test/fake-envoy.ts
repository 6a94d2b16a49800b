import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Writes a program that answers as Envoy 1.40.0 does, and returns its path.
 * @param verdict - Lines of a shell script. They can call `reject TEXT`, read the configuration `"$config"`, and end with the exit code.
 */
export function writeFakeEnvoy(dir: string, verdict: string): string {
  const program = join(dir, "envoy");
  writeFileSync(
    program,
    `#!/bin/sh
if [ "$1" = --version ]; then echo; echo "envoy  version: 9e5580933739775e8bce696a57a2e1bc99368f23/1.40.0/Clean/RELEASE/BoringSSL"; exit; fi
config=$4
reject() {
  echo "[2026-11-26 23:52:33.896][29984][critical][main] [source/server/config_validation/server.cc:76] error initializing configuration '$config': $1"
  exit 1
}
${verdict}
echo "configuration '$config' OK"
`,
  );
  chmodSync(program, 0o755);
  return program;
}
