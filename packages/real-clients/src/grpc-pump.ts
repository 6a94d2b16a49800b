import { join } from "node:path";
import type { MemoryStream } from "@xdstp/testing";
import { javaPeerArgs } from "./java-peer.ts";
import type { GrpcProgram } from "./programs.ts";
import { startProcess } from "./start-process.ts";

/** A gRPC library in a process of its own that carries messages and knows nothing of them. */
export interface GrpcPump {
  /** Begins a stream; waits for a connection, and makes one if it was lost. */
  open(): void;
  /** The messages of the newest stream. */
  readonly wire: Pick<MemoryStream, "send" | "take">;
  /** The reasons for which streams ended so far; the list grows. */
  readonly ends: readonly string[];
}

const args: Readonly<Record<GrpcProgram, () => readonly string[]>> = {
  grpcio: () => ["-u", join(import.meta.dirname, "grpcio-pump.py")],
  "grpc-js-xds": () => [join(import.meta.dirname, "grpc-js-pump.ts")],
  "grpc-go": () => ["pump"],
  "grpc-java": () => javaPeerArgs("pump"),
};

/** Starts a library for the time of the test, with a server on this port of the loopback. */
export function startGrpcPump(
  program: GrpcProgram,
  command: string,
  port: number,
  path: string,
): GrpcPump {
  let received: Buffer[] = [];
  const ends: string[] = [];
  const child = startProcess(command, [...args[program](), `127.0.0.1:${port}`, path], {
    onLine(line) {
      if (/^[A-Za-z0-9+/=]+$/.test(line.slice(0, 100)) && line !== "ended")
        received.push(Buffer.from(line, "base64"));
      else ends.push(line);
    },
  });
  return {
    ends,
    open() {
      received = [];
      child.write("open");
    },
    wire: {
      send: (message) => {
        child.write(Buffer.from(message).toString("base64"));
      },
      take: () => received.shift(),
    },
  };
}
