import { parseArgs } from "node:util";

/** The arguments of `npm start -- ARGS`. */
export interface MeshArguments {
  /** Make the tour and leave. */
  readonly once: boolean;
  readonly help: boolean;
  /** The port of the control plane; 0 takes a free one. */
  readonly port: number;
  /** The port of Envoy; 0 takes a free one. */
  readonly edgePort: number;
}

/** The text of `--help`. */
export const usage = `npm start -- [--once] [--port PORT] [--edge-port PORT]

A small mesh: a folder of YAML, a control plane, two backends, a gRPC client and, where it is found, Envoy.

  --once            make the whole tour without being asked, then leave: exit 0, or 1 and the step that failed
  --port PORT       the port of the control plane (default: a free one)
  --edge-port PORT  the port of Envoy (default: a free one)

Envoy is looked for in the variable ENVOY_BIN, then on the PATH.

Example: npm start -- --port 18000`;

/** Reads the arguments. Throws an Error that names the one that is wrong. */
export function parseMeshArguments(args: readonly string[]): MeshArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: "boolean" },
      help: { type: "boolean", short: "h" },
      port: { type: "string" },
      "edge-port": { type: "string" },
    },
  });
  return {
    once: values.once ?? false,
    help: values.help ?? false,
    port: parsePort("--port", values.port),
    edgePort: parsePort("--edge-port", values["edge-port"]),
  };
}

function parsePort(option: string, text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new Error(`${option} has to be a port from 0 to 65535, not "${text}"`);
}
