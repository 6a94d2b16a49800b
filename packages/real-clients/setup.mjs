// node packages/real-clients/setup.mjs FOLDER: installs the foreign programs of the suites in a virtual environment of Python, builds that in Java beside them, and says how to use it.
import { spawnSync } from "node:child_process";
import { delimiter, join, resolve } from "node:path";

const requirements = resolve(import.meta.dirname, "../../.ci/requirements.txt");
const javaPeer = resolve(import.meta.dirname, "java-peer");
const folder = process.argv[2];

if (folder === undefined) {
  console.error("which folder? Example: node packages/real-clients/setup.mjs ~/xdstp-programs");
  process.exitCode = 2;
} else {
  process.exitCode = install(resolve(folder));
}

function install(target) {
  const python = join(target, "bin/python");
  const ok =
    run(
      "python3",
      ["-m", "venv", target],
      "Python 3 with venv is needed (Debian: apt-get install python3-venv)",
    ) &&
    run(
      python,
      ["-m", "pip", "install", "--quiet", "--requirement", requirements],
      `pip cannot install what ${requirements} names (Envoy: Linux x86-64 with glibc, macOS arm64, Windows)`,
    );
  if (!ok) return 1;
  const java = join(target, "java-peer");
  const hasJava = run(
    "mvn",
    ["--quiet", "--batch-mode", "--file", javaPeer, `-Dpeer.target=${java}`],
    "Without it grpc-java is not run; a JDK of 17 or newer and Maven are needed (Debian: apt-get install openjdk-17-jdk-headless maven)",
  );
  console.log(
    `${hasJava ? `JAVA_PEER_CLASSPATH="${join(java, "classes")}${delimiter}${join(java, "lib/*")}" ` : ""}ENVOY_BIN=${join(target, "bin/envoy")} PYTHON=${python} GO=${join(target, "bin/go")} pnpm --filter @xdstp/real-clients run test:real`,
  );
  return 0;
}

function run(command, args, hint) {
  const { status, error } = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (status === 0) return true;
  console.error(
    `${command} ${args.join(" ")} ${error === undefined ? `ended with ${status}` : error.message}\n${hint}`,
  );
  return false;
}
