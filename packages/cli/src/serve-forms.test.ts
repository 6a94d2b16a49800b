import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const cluster = "envoy.config.cluster.v3.Cluster";
const at = (id: string): string => `xdstp://a/${cluster}/${id}`;

describe("a folder with redirects and lists", () => {
  it("is served as a client reads it: a name, a member of a glob, an entry of a list, a list [C-REDIR-1] [C-REDIR-6]", async () => {
    const { dir } = useFolder({
      "a/clusters/real.yaml": "connect_timeout: 7s",
      "a/clusters/ns/old.yaml": at("real"),
      "a/clusters/ns/plain.yaml": "connect_timeout: 1s",
      [`a/${cluster}Collection/all.yaml`]: `entries:
- locator: ${at("ns/old")}
- inline_entry: {name: in, resource: {connect_timeout: 2s}}
`,
      [`a/${cluster}Collection/moved.yaml`]: `xdstp://a/${cluster}Collection/all`,
    });
    const serve = useCli(["serve", dir, "--listen", "0"]);
    await serve.stdout.line(/loaded/);
    const server = `127.0.0.1:${await serve.port()}`;
    const get = async (...args: readonly string[]) => {
      const { out, err } = await runToEnd(["get", ...args, "--server", server, "--timeout", "5"]);
      expect(err).toBe("");
      return out;
    };
    const timeouts = (json: string): readonly string[] =>
      [...json.matchAll(/"connect_timeout": "(\d+s)"/g)].map(([, seconds = ""]) => seconds);
    expect(timeouts(await get(at("ns/old"), "--json"))).toEqual(["7s"]);
    expect(timeouts(await get(at("ns/*"), "--json")).toSorted()).toEqual(["1s", "7s"]);
    for (const list of ["all", "moved"])
      expect(timeouts(await get(`xdstp://a/${cluster}Collection/${list}`, "--json"))).toEqual([
        "7s",
        "2s",
      ]);
    expect(timeouts(await get(`xdstp://a/${cluster}Collection/moved#entry=in`, "--json"))).toEqual([
      "2s",
    ]);
  });
});
