// npm start -- ARGS: a small mesh, served from a folder; see mesh-arguments.ts.
import { once } from "node:events";
import { join } from "node:path";
import { createLive } from "./live.ts";
import { type MeshArguments, parseMeshArguments, usage } from "./mesh-arguments.ts";
import { startMesh } from "./mesh.ts";
import { runTour } from "./run-tour.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    stop.abort(new Error("interrupted"));
  });

process.exit(await run(process.argv.slice(2)));

/** The exit code: 0 done, 1 failed, 2 wrong usage. */
async function run(args: readonly string[]): Promise<number> {
  const parsed = parse(args);
  if (parsed === undefined) return 2;
  if (parsed.help) {
    console.log(usage);
    return 0;
  }
  try {
    if (!parsed.once) return await live(parsed);
    return (await runTour(
      parsed,
      (line) => {
        console.log(line);
      },
      stop.signal,
    ))
      ? 0
      : 1;
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

function parse(args: readonly string[]): MeshArguments | undefined {
  try {
    return parseMeshArguments(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
}

/** Runs until it is interrupted. The folder lies next to the configuration that it is copied from, where it is found. */
async function live({ port, edgePort }: MeshArguments): Promise<number> {
  const view = createLive(process.stdout);
  await using mesh = await startMesh({
    prefix: join(import.meta.dirname, "live-"),
    port,
    edgePort,
    signal: stop.signal,
    onEvent: (event) => {
      view.event(event);
    },
  });
  view.start(mesh);
  if (!stop.signal.aborted) await once(stop.signal, "abort");
  view.stop();
  return 0;
}
