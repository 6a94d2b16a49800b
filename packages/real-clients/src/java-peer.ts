import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Program } from "./program.ts";

const folder = join(import.meta.dirname, "../java-peer");
let classpath: string | Error | undefined;

/** The program in Java that is a gRPC client: of JAVA_PEER_CLASSPATH, or built with the Maven of the PATH. It runs on the Java of the PATH. */
export function findJavaPeer(): Program {
  classpath ??= process.env.JAVA_PEER_CLASSPATH ?? build();
  if (classpath instanceof Error) return { found: false, reason: classpath.message };
  const { stdout, stderr, error } = spawnSync("java", javaPeerArgs("version"), {
    encoding: "utf8",
  });
  const version = error === undefined ? /^grpc-java (\d\S*)$/m.exec(stdout)?.[1] : undefined;
  if (version !== undefined) return { found: true, command: "java", version };
  return {
    found: false,
    reason: `java does not run peer.Main of ${classpath}: ${error?.message ?? stderr.slice(-500)}; install a JDK of 17 or newer, and leave JAVA_PEER_CLASSPATH out to have the program built`,
  };
}

/** The arguments that make `java` run the program that {@link findJavaPeer} has found. */
export function javaPeerArgs(...args: readonly string[]): string[] {
  return ["-cp", String(classpath), "peer.Main", ...args];
}

function build(): string | Error {
  const target = join(tmpdir(), `xdstp-java-peer-${process.getuid?.() ?? ""}`);
  // A library of another version would stay on the class path.
  rmSync(target, { recursive: true, force: true });
  const { status, stdout, error } = spawnSync(
    "mvn",
    ["--quiet", "--batch-mode", `-Dpeer.target=${target}`],
    { cwd: folder, encoding: "utf8" },
  );
  if (status === 0) return [join(target, "classes"), join(target, "lib/*")].join(delimiter);
  return new Error(
    `mvn cannot build packages/real-clients/java-peer: ${error?.message ?? stdout.slice(-500)}; install a JDK of 17 or newer and Maven, or set JAVA_PEER_CLASSPATH to what it has built`,
  );
}
