import { join } from "node:path";
import type { WriteStream } from "node:tty";
import type { Caller } from "./caller.ts";
import { eventText } from "./event-text.ts";
import type { Mesh, MeshEvent } from "./mesh.ts";
import { sharesOf } from "./shares.ts";

/** The view of a running mesh. */
export interface Live {
  /** Says what happened. */
  event(event: MeshEvent): void;
  /** Says what to open and what to edit, and from then on how the calls are shared out. */
  start(mesh: Mesh): void;
  stop(): void;
}

/** On a terminal one line that is written again four times a second; elsewhere a line every 5 seconds. Events are lines of their own. */
export function createLive(out: WriteStream): Live {
  let timer: NodeJS.Timeout | undefined;
  const line = (text: string): void => {
    out.write(`${out.isTTY ? "\r\u001b[K" : ""}${text}\n`);
  };
  const summary = (callers: readonly Caller[]): void => {
    const text = callers
      .map((caller) => `${caller.name}: ${sharesOf(caller.since(Date.now() - 1000))}`)
      .join("   ");
    if (out.isTTY) out.write(`\r\u001b[K${text}`.slice(0, (out.columns || 80) + 3));
    else line(`${clockTime()}  ${text}`);
  };
  return {
    event(event) {
      for (const text of eventText(event)) line(`${clockTime()}  ${text}`);
    },
    start(mesh) {
      for (const text of introduction(mesh)) line(text);
      timer = setInterval(summary, out.isTTY ? 250 : 5000, mesh.callers);
    },
    stop() {
      clearInterval(timer);
      if (timer !== undefined && out.isTTY) line("");
    },
  };
}

function introduction({ dir, controlPlane, envoy, page }: Mesh): readonly string[] {
  return [
    "",
    `  xDS    127.0.0.1:${controlPlane.port} serves the folder ${dir}`,
    `  open   ${page} (each load is one gRPC call to xds://mesh.example/greeter)`,
    ...(envoy === undefined
      ? ["  Envoy  not found: set ENVOY_BIN, or put envoy on the PATH, to have one here too"]
      : [
          `  open   ${envoy.edge} (the same backends through Envoy), ${envoy.admin} (Envoy's admin page)`,
        ]),
    `  edit   ${join(dir, "mesh.example/routes/greeter.yaml")} (change the weights and save)`,
    "  stop   Ctrl-C (the folder is removed then; examples/mesh/config stays as it is)",
    "",
  ];
}

function clockTime(): string {
  return new Date().toTimeString().slice(0, 8);
}
