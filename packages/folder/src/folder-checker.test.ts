import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { useFolder } from "../test/use-folder.ts";
import { createFolderChecker } from "./check-folder.ts";

const route = (cluster: string): string =>
  `virtual_hosts:\n- { name: a, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: ${cluster} } }] }\n`;

describe("createFolderChecker()", () => {
  it("reads unsaved texts instead of files, and the files again without them", async () => {
    const { dir } = await useFolder({ "_opaque/clusters/web.yaml": "type: STATIC\n" });
    const file = join(dir, "_opaque/clusters/web.yaml");
    const checker = createFolderChecker({ dir, registry: envoyRegistry() });
    expect((await checker.check()).problems).toEqual([]);
    const { problems } = await checker.check(new Map([[file, "a: 1\n"]]));
    expect(problems).toMatchObject([{ file, line: 1, code: "unknown-field" }]);
    expect((await checker.check()).problems).toEqual([]);
    await writeFile(file, "b: 1\n");
    expect((await checker.check()).problems).toHaveLength(1);
    checker.close();
  });

  it("gives the resources with what they refer to, also of a text that is nowhere saved", async () => {
    const { dir } = await useFolder({ "_opaque/routes/shop.yaml": route("web") });
    const checker = createFolderChecker({ dir, registry: envoyRegistry() });
    const { names } = await checker.check();
    expect(names).toMatchObject([{ name: "shop", references: [{ name: "web" }] }]);
    const file = join(dir, "_opaque/routes/shop.yaml");
    expect(checker.namesIn(file, route("blue"))).toMatchObject([
      { file, name: "shop", references: [{ name: "blue" }] },
    ]);
    expect(checker.namesIn(file, "virtual_hosts: [")).toEqual([]);
    checker.close();
  });

  it("runs calls one after another, each with its own texts", async () => {
    const { dir } = await useFolder({ "_opaque/clusters/web.yaml": "type: STATIC\n" });
    const file = join(dir, "_opaque/clusters/web.yaml");
    const checker = createFolderChecker({ dir, registry: envoyRegistry() });
    const found = await Promise.all(
      ["a: 1\n", "type: STATIC\n", "b: 1\n"].map(async (text) =>
        checker.check(new Map([[file, text]])),
      ),
    );
    expect(found.map(({ problems }) => problems.length)).toEqual([1, 0, 1]);
    checker.close();
  });
});
