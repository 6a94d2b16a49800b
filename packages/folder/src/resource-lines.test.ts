import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { readFolder } from "./read-folder.ts";
import { createLineFinder } from "./resource-lines.ts";

/** Returns the lines of the resources in a folder, by name. */
async function linesIn(
  files: Readonly<Record<string, string>>,
  then: (folder: Awaited<ReturnType<typeof useFolder>>) => Promise<void> = async () =>
    Promise.resolve(),
): Promise<Readonly<Record<string, number | undefined>>> {
  const folder = await useFolder(files);
  const { resources, problems } = await readFolder({ dir: folder.dir, registry: envoyRegistry() });
  expect(problems).toEqual([]);
  await then(folder);
  const lineOf = createLineFinder();
  const lines: Record<string, number | undefined> = {};
  for (const resource of resources) lines[resource.resource.name] = await lineOf(resource);
  return lines;
}

describe("createLineFinder()", () => {
  it("finds the first field of a resource, after comments and empty documents", async () => {
    expect(
      await linesIn({
        "_opaque/clusters/alone.yaml": "# first\n\n---\n# second\nconnect_timeout: 1s\n",
        "_opaque/clusters/many.yaml":
          "name: b\n---\n# nothing\n---\n# c is next\ntype: EDS\nname: c\n",
      }),
    ).toEqual({ alone: 5, b: 1, c: 6 });
  });

  it("finds the members of a response and wrappers, whatever else has their names", async () => {
    const response = `version_info: c
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: b
  alt_stat_name: c
- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource
  name: c
  resource:
    "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
`;
    expect(
      await linesIn({
        "_opaque/clusters/many.yaml": response,
        "_opaque/clusters/wrapped.json":
          '\n{\n  "ttl": "5s",\n  "resource": {"connect_timeout": "1s"}\n}\n',
      }),
    ).toEqual({ b: 3, c: 6, wrapped: 2 });
  });

  it("finds a redirect, and nothing in text format or in a file that was removed", async () => {
    expect(
      await linesIn(
        {
          "_opaque/clusters/redirect.yaml":
            "\nxdstp://a.example/envoy.config.cluster.v3.Cluster/b\n",
          "_opaque/clusters/text.txtpb": "connect_timeout { seconds: 1 }\n",
          "_opaque/clusters/removed.yaml": "{}",
        },
        async ({ remove }) => remove("_opaque/clusters/removed.yaml"),
      ),
    ).toEqual({ redirect: 2, text: undefined, removed: undefined });
  });
});
