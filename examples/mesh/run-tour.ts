import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MeshArguments } from "./mesh-arguments.ts";
import { type Mesh, type MeshEvent, startMesh } from "./mesh.ts";
import { tourSteps } from "./tour.ts";

/** Makes the tour in a folder of its own, and says each step. Resolves with whether all went well. */
export async function runTour(
  { port, edgePort }: MeshArguments,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const events: MeshEvent[] = [];
  const prefix = join(tmpdir(), "xdstp-mesh-");
  const started = await step("start", say, async () => {
    const mesh = await startMesh({
      prefix,
      port,
      edgePort,
      signal,
      onEvent: (event) => {
        events.push(event);
      },
    });
    return {
      mesh,
      seen:
        mesh.envoy === undefined
          ? "backends, control plane, gRPC client"
          : "backends, control plane, gRPC client, Envoy",
    };
  });
  if (started === undefined) return false;
  await using mesh: Mesh = started.mesh;
  for (const { name, run } of tourSteps) {
    const done = await step(name, say, async () => ({ seen: await run({ mesh, events, signal }) }));
    if (done === undefined) return false;
  }
  return true;
}

async function step<T extends { readonly seen: string }>(
  name: string,
  say: (line: string) => void,
  run: () => Promise<T>,
): Promise<T | undefined> {
  const began = Date.now();
  const seconds = (): string => `${((Date.now() - began) / 1000).toFixed(1)} s`;
  try {
    const done = await run();
    say(`✓ ${name} (${seconds()})\n    ${done.seen}`);
    return done;
  } catch (error) {
    say(`✗ ${name} (${seconds()})\n    ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
