// The entry of the root's scripts: installs what is missing, then runs the verb on the Node that the workspace brings along.
// This file and tools/install run on the Node of the machine (20 or newer); everything behind them on the workspace's own.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install/install.mjs";
import { findRuntime } from "./install/runtime.mjs";
import { verbs } from "./verbs.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [name = "", ...args] = process.argv.slice(2);
const verb = verbs[name];

if (verb === undefined) {
  console.error(`unknown verb "${name}"; one of: ${Object.keys(verbs).join(", ")}`);
  process.exitCode = 2;
} else {
  try {
    ensureInstalled(root);
    run(verb, findRuntime(root));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

function run(verb, runtime) {
  const child = spawn(
    runtime.node,
    ["--conditions=@xdstp/source", join(root, verb.file), ...args],
    {
      cwd: verb.fromCaller ? (process.env.INIT_CWD ?? process.cwd()) : root,
      env: withPath(runtime.path),
      stdio: "inherit",
    },
  );
  forwardSignals(child);
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
  child.on("error", (error) => {
    console.error(`cannot run ${runtime.node}: ${error.message}`);
    process.exitCode = 1;
  });
}

// The variable is called Path on Windows, and a second spelling next to it would win or lose by chance.
function withPath(folders) {
  const key = Object.keys(process.env).find((name) => name.toUpperCase() === "PATH") ?? "PATH";
  return {
    TURBO_TELEMETRY_DISABLED: "1",
    ...process.env,
    [key]: [...folders, process.env[key]].join(delimiter),
  };
}

// A terminal sends Ctrl-C to the child as well: forwarding it there would make it two.
function forwardSignals(child) {
  const interactive = process.stdin.isTTY || process.stdout.isTTY;
  process.on("SIGINT", () => {
    if (!interactive) child.kill("SIGINT");
  });
  for (const signal of ["SIGTERM", "SIGHUP"])
    process.on(signal, () => {
      child.kill(signal);
    });
}
