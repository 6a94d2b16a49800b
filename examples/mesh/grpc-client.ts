import { Client, Metadata, credentials } from "@grpc/grpc-js";
import { register } from "@grpc/grpc-js-xds";

/** A gRPC client that finds its backends over xDS. */
export interface GrpcClient {
  /** Calls once and gives the name of the backend that answered. Waits until the mesh is up, 20 s at most. */
  call(): Promise<string>;
  close(): void;
}

/** The target of the client: the listener `greeter` of the authority `mesh.example`. */
export const target = "xds://mesh.example/greeter";

/**
 * Makes the client. There can be one control plane in a process only: gRPC reads its bootstrap once, from the environment.
 * @param port - Where the control plane listens
 */
export function createGrpcClient(port: number): GrpcClient {
  delete process.env.GRPC_XDS_BOOTSTRAP;
  process.env.GRPC_XDS_BOOTSTRAP_CONFIG = JSON.stringify(grpcBootstrap(port));
  register();
  const client = new Client(target, credentials.createInsecure());
  return {
    call: () => call(client),
    close: () => {
      client.close();
    },
  };
}

/** A bootstrap that asks for listeners of `mesh.example` by their xdstp names. */
function grpcBootstrap(port: number): unknown {
  const servers = [{ server_uri: `127.0.0.1:${port}`, channel_creds: [{ type: "insecure" }] }];
  return {
    xds_servers: servers,
    authorities: {
      "mesh.example": {
        client_listener_resource_name_template:
          "xdstp://mesh.example/envoy.config.listener.v3.Listener/%s",
        xds_servers: servers,
      },
    },
    node: { id: "mesh-client", cluster: "mesh", locality: {} },
  };
}

function call(client: Client): Promise<string> {
  const bytes = (text: string): Buffer => Buffer.from(text);
  const text = (message: Buffer): string => message.toString();
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + 20_000 };
    client.makeUnaryRequest(
      "/mesh.Greeter/Greet",
      bytes,
      text,
      "",
      new Metadata({ waitForReady: true }),
      options,
      (error, answer) => {
        if (error === null && answer !== undefined) resolve(answer);
        else reject(error ?? new Error("no answer"));
      },
    );
  });
}
