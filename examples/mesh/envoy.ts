import { envoyBootstrap } from "./envoy-bootstrap.ts";
import { type RunningEnvoy, runEnvoy } from "./run-envoy.ts";
import { waitUntil } from "./wait-until.ts";

/** The Envoy of the mesh. */
export interface Envoy extends RunningEnvoy {
  /** Calls once through the listener and gives the name of the backend that answered. */
  call(): Promise<string>;
}

/** Starts Envoy in front of the control plane on `port`; resolves when calls through it are answered. */
export async function startEnvoy(
  binary: string,
  port: number,
  signal: AbortSignal,
): Promise<Envoy> {
  const envoy = await runEnvoy(binary, envoyBootstrap(port), signal);
  try {
    await waitUntil(
      "Envoy does not answer",
      () => callOnce(envoy.edge).catch(() => undefined),
      signal,
    );
    return { ...envoy, call: () => callOnce(envoy.edge) };
  } catch (error) {
    await envoy.close();
    throw error;
  }
}

async function callOnce(edge: string): Promise<string> {
  const response = await fetch(edge, { signal: AbortSignal.timeout(20_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${text}`);
  return text;
}
