import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const folder = fileURLToPath(new URL("../../../examples/deploy", import.meta.url));
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          {
            readonly args: readonly string[];
            readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
            readonly readinessProbe: Probe;
            readonly livenessProbe: Probe;
            readonly volumeMounts: readonly [{ readonly mountPath: string }];
          },
        ];
      };
    };
  };
}
interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

const manifests = parseAllDocuments(read("kubernetes.yaml")).map(
  (document) => document.toJS() as Manifest,
);
const [container] = manifests.find(({ kind }) => kind === "Deployment")?.spec.template.spec
  .containers ?? [undefined];
const configMap = manifests.find(({ kind }) => kind === "ConfigMap");

const imageCommand = parse(/^CMD (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "") as readonly string[];
const unitCommand = (unit: string): readonly string[] =>
  (/^ExecStart=\/usr\/bin\/xdstp (.*)$/m.exec(read(unit))?.[1] ?? "").split(" ");

/** Returns the same command with files of a test and free ports. */
function local(argv: readonly string[], dir: string): readonly string[] {
  return argv.map((arg) =>
    arg.startsWith("/")
      ? join(dir, arg)
      : arg.replace(/^(?:127\.0\.0\.1|0\.0\.0\.0):\d+$/, "127.0.0.1:0"),
  );
}

async function answers(argv: readonly string[], dir: string, path: string): Promise<number> {
  const { stdout } = useCli(local(argv, dir));
  const [, base = ""] =
    /metrics: (http:\/\/\S+)\/metrics$/.exec(await stdout.line(/listening/)) ?? [];
  await stdout.line(/Z ready /);
  return (await fetch(`${base}${path}`, { headers: { connection: "close" } })).status;
}

it.each([
  ["the image", imageCommand, "/config"],
  ["Kubernetes", container?.args ?? [], "/config"],
  ["the unit of serve", unitCommand("xdstp.service"), "/etc/xdstp/config"],
])("the command of %s serves a folder, and its probes answer", async (_, argv, served) => {
  const { dir } = useFolder(
    Object.fromEntries(
      Object.entries(configMap?.data ?? {}).map(([file, text]) => [
        `${served}/_opaque/clusters/${file}`,
        text,
      ]),
    ),
  );
  for (const probe of [container?.readinessProbe, container?.livenessProbe])
    expect(await answers(argv, dir, probe?.httpGet.path ?? "/none")).toBe(200);
});

it("the command of the unit of a relay begins with the bootstrap of the command", async () => {
  const { out } = await runToEnd(["bootstrap", "grpc", "--server", "127.0.0.1:1"]);
  const { dir } = useFolder({ "etc/xdstp/bootstrap.json": out });
  expect(await answers(unitCommand("xdstp-relay.service"), dir, "/readyz")).toBe(200);
});

it("the ports and the folder of the manifest are those of its command and of the image", () => {
  const port = (flag: string): number =>
    Number(container?.args[container.args.indexOf(flag) + 1]?.split(":")[1]);
  expect(container?.ports).toEqual([
    { name: "xds", containerPort: port("--listen") },
    { name: "metrics", containerPort: port("--metrics") },
  ]);
  for (const probe of [container?.readinessProbe, container?.livenessProbe])
    expect(probe?.httpGet.port).toBe("metrics");
  expect(container?.volumeMounts[0].mountPath).toMatch(/^\/config\/_opaque\/clusters$/);
  expect(imageCommand).toEqual(container?.args);
  expect(read("Dockerfile")).toContain(`EXPOSE ${port("--listen")} ${port("--metrics")}\n`);
});

it("the units are ones that systemd accepts, where systemd-analyze is installed", () => {
  // `xdstp` is not installed here, so the units start another program.
  const { dir } = useFolder(
    Object.fromEntries(
      ["xdstp.service", "xdstp-relay.service"].map((unit) => [
        unit,
        read(unit).replace("/usr/bin/xdstp", "/bin/true"),
      ]),
    ),
  );
  for (const unit of ["xdstp.service", "xdstp-relay.service"]) {
    const { error, status, stderr } = spawnSync("systemd-analyze", ["verify", join(dir, unit)], {
      encoding: "utf8",
    });
    if (error !== undefined) {
      console.log(`the units are not checked: ${error.message}`);
      return;
    }
    expect({ status, said: status === 0 ? "" : stderr }).toEqual({ status: 0, said: "" });
  }
});
