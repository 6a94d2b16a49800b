import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { checkFile } from "@xdstp/folder";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { expect, it } from "vitest";
import { useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { useGrpcBackend } from "../src/grpc-backend.ts";
import { grpcBootstrap } from "../src/grpc-bootstrap.ts";
import { startGrpcClient } from "../src/grpc-client.ts";
import { grpcMistakes, type GrpcMistake } from "../src/grpc-mistakes.ts";
import type { GrpcProgram } from "../src/programs.ts";
import { apiListener, cluster, endpoints, route, type TestResource } from "../src/resources.ts";
import { until } from "../src/until.ts";
import { useFolder } from "../src/use-folder.ts";

/** The chain from a listener to a backend. */
function chain(port: number): Readonly<Record<GrpcMistake["in"], TestResource>> {
  return {
    listener: apiListener("svc", "r"),
    route: route("r", "c"),
    cluster: cluster("c", "e"),
    endpoints: endpoints("e", port),
  };
}

async function found({ typeUrl, body }: TestResource): Promise<readonly string[]> {
  const file = join(useFolder(), "resource.json");
  writeFileSync(file, JSON.stringify({ "@type": typeUrl, ...body }));
  const { problems } = await checkFile({ file, registry: envoyRegistry(), clients: ["grpc"] });
  return problems.map(({ code, message }) => `${code}: ${message}`);
}

for (const program of ["grpc-go", "grpcio"] as const satisfies GrpcProgram[]) {
  describeProgram(program, "what validate --for grpc rejects (sotw/ads)", (command) => {
    it("accepts a chain in which validate finds nothing", async () => {
      const resources = Object.values(chain(await useGrpcBackend("blue")));
      for (const one of resources) expect(await found(one)).toEqual([]);
      const controlPlane = await useControlPlane(...resources);
      const client = startGrpcClient(
        program,
        command,
        grpcBootstrap(controlPlane.port),
        "xds:///svc",
      );
      expect(await client.call()).toBe("blue");
    });

    it.each(grpcMistakes.filter(({ acceptedBy = [] }) => !acceptedBy.includes(program)))(
      "rejects: $name",
      async ({ in: place, change }) => {
        const good = chain(await useGrpcBackend("blue"));
        const wrong = { ...good[place], body: change(good[place].body) as JsonObject };
        expect(await found(wrong)).toContainEqual(expect.stringMatching(/^rejected-by-grpc: /));
        const controlPlane = await useControlPlane(...Object.values({ ...good, [place]: wrong }));
        const client = startGrpcClient(
          program,
          command,
          grpcBootstrap(controlPlane.port),
          "xds:///svc",
        );
        client.call().catch(() => undefined);
        await until(
          "a NACK",
          () => controlPlane.nacks().length > 0,
          () => controlPlane.status(),
          15_000,
        );
      },
    );
  });
}
