import { join } from "node:path";
import { javaPeerArgs } from "./java-peer.ts";
import type { GrpcProgram } from "./programs.ts";
import { type Process, startProcess } from "./start-process.ts";

/** A gRPC client in a process of its own. */
export interface GrpcClient extends Process {
  /** One call; gives the answer. Any number at once. Throws the status, where the call fails. */
  call(options?: CallOptions): Promise<string>;
}

/** The options of one call. */
export interface CallOptions {
  /** Default: the target that the client was started with. */
  readonly target?: string;
  /** True: the call fails at once if no server can be called. False: it waits. Default: false. */
  readonly failFast?: boolean;
}

/** One line of the client's output. */
interface Reply {
  readonly id: number;
  readonly answer?: string;
  readonly error?: string;
}

const seconds = 40;
const args: Readonly<Record<GrpcProgram, () => readonly string[]>> = {
  grpcio: () => ["-u", join(import.meta.dirname, "grpcio-client.py")],
  "grpc-js-xds": () => [join(import.meta.dirname, "grpc-js-client.ts")],
  "grpc-go": () => ["call"],
  "grpc-java": () => javaPeerArgs("call"),
};

/** Starts a client of this library for the time of the test. */
export function startGrpcClient(
  program: GrpcProgram,
  command: string,
  bootstrap: string,
  target: string,
): GrpcClient {
  const open = new Map<number, { resolve(answer: string): void; reject(error: Error): void }>();
  const said: string[] = [];
  let made = 0;
  const settle = ({ id, answer, error }: Reply): void => {
    const call = open.get(id);
    open.delete(id);
    if (answer !== undefined) call?.resolve(answer);
    else call?.reject(new Error(error ?? "no answer"));
  };
  const onLine = (line: string): void => {
    if (line.startsWith("{")) settle(JSON.parse(line) as Reply);
    else said.push(line);
  };
  const onEnd = (how: string): void => {
    for (const id of [...open.keys()])
      settle({ id, error: `${program} ${how}: ${said.slice(-5).join("\n")}` });
  };
  const child = startProcess(command, args[program](), {
    env: { GRPC_XDS_BOOTSTRAP_CONFIG: bootstrap, GRPC_VERBOSITY: "NONE" },
    onLine,
    onEnd,
  });
  const call: GrpcClient["call"] = (options = {}) =>
    new Promise((resolve, reject) => {
      const id = made++;
      open.set(id, { resolve, reject });
      if (child.ended === undefined)
        child.write(
          JSON.stringify({
            id,
            target: options.target ?? target,
            seconds,
            wait: options.failFast !== true,
          }),
        );
      else onEnd(child.ended);
    });
  return {
    ...child,
    lines: said,
    get ended() {
      return child.ended;
    },
    call,
  };
}
