import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { replaceFile } from "../src/replace-file.ts";
import { startProcess } from "../src/start-process.ts";
import { get } from "../src/traffic.ts";
import { until } from "../src/until.ts";
import { useFolder } from "../src/use-folder.ts";

/** The example of the documentation, with free ports. */
function documented(): { readonly bootstrap: string; readonly list: string } {
  const text = readFileSync(new URL("../../../docs/HOW-DO-I.md", import.meta.url), "utf8");
  const [, section = ""] = text.split("### Give Envoy a list of listeners in one file\n");
  const [bootstrap = "", list = ""] = Array.from(
    section.matchAll(/```yaml\n(.*?)```/gs),
    ([, block = ""]) => block.replaceAll(/port_value: \d+/g, "port_value: 0"),
  );
  return { bootstrap, list };
}

interface World {
  readonly envoy: Envoy;
  readonly list: string;
  readonly replace: (list: string) => void;
}

/** An Envoy that reads the documented list and knows no server. */
async function useWorld(command: string): Promise<World> {
  const { bootstrap, list } = documented();
  const dir = useFolder({ "listeners.yaml": list });
  const envoy = await startEnvoy(command, bootstrap.replace("/etc/envoy", dir));
  return {
    envoy,
    list,
    replace: (text) => {
      replaceFile(join(dir, "listeners.yaml"), text);
    },
  };
}

/** Returns the entries of the list as `entries` changes them. */
function withEntries(list: string, entries: (web: string) => readonly string[]): string {
  const [head = "", web = ""] = list.split("  entries:\n");
  return `${head}  entries:\n${entries(web).join("")}`;
}

function renamed(entry: string, name: string, answer: string): string {
  return entry
    .replaceAll("name: web", `name: ${name}`)
    .replace("inline_string: blue", `inline_string: ${answer}`);
}

describeProgram("envoy", "list collections", (command) => {
  it("reads the documented list from a file, and applies new, changed and removed entries [B-LIST-12]", async () => {
    const { envoy, list, replace } = await useWorld(command);
    expect(await get(await envoy.url("web"))).toBe("blue");
    replace(withEntries(list, (web) => [web, renamed(web, "api", "red")]));
    expect(await get(await envoy.url("api"))).toBe("red");
    expect(await get(await envoy.url("web"))).toBe("blue");
    replace(withEntries(list, (web) => [renamed(web, "api", "green")]));
    await until("web is removed", async () => (await envoy.listeners()).join() === "api");
    await until("api has changed", async () => (await get(await envoy.url("api"))) === "green");
  });

  it("ignores an entry that is a locator, and applies the inline entries next to it [B-LIST-12]", async () => {
    const { envoy, list, replace } = await useWorld(command);
    await envoy.url("web");
    const locator =
      "    - locator: { id: far, authority: a, resource_type: envoy.config.listener.v3.Listener }\n";
    replace(withEntries(list, (web) => [locator, renamed(web, "api", "red")]));
    expect(await get(await envoy.url("api"))).toBe("red");
    expect(await envoy.listeners()).toEqual(["api"]);
    expect(await envoy.stat("listener_manager.lds.update_rejected")).toBe("0");
  });

  it("does not start with a list of a server, for which a glob is the replacement [B-LIST-12]", async () => {
    const list = "xdstp://a/envoy.config.listener.v3.ListenerCollection/all";
    const dir = useFolder({
      "bootstrap.yaml": documented().bootstrap.replace("file:///etc/envoy/listeners.yaml", list),
    });
    const envoy = startProcess(command, [
      "-c",
      join(dir, "bootstrap.yaml"),
      "--use-dynamic-base-id",
    ]);
    expect(await until("Envoy has ended", () => envoy.ended)).toBe("ended with 1");
    expect(envoy.lines.at(-1)).toContain("type does not match envoy.config.listener.v3.Listener");
  });
});
