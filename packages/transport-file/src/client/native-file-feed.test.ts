import { readFileSync } from "node:fs";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { type Cache, createCache } from "@xdstp/cache";
import type { Topic } from "@xdstp/core";
import { ResourceSchema } from "@xdstp/protos/discovery";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { envoyTypes } from "@xdstp/resource-types";
import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";

import { clusterType, endpointType, useDirectory, waitFor } from "../../test/use-file.ts";
import { createNativeFileFeed, type NativeFileFeedOptions } from "./index.ts";

interface Reading {
  readonly cache: Cache;
  readonly problems: string[];
  readonly watch: (name: string, typeUrl?: string) => Watched;
}

interface Watched {
  readonly topic: Topic;
  /** The clusters that the topic has, as `name=seconds`, sorted. */
  readonly held: () => string;
  readonly until: (held: string) => Promise<void>;
  readonly close: () => void;
}

function useFeed(directory: string, options: Partial<NativeFileFeedOptions> = {}): Reading {
  const problems: string[] = [];
  const cache = createCache({ types: envoyTypes, directives: true });
  onTestFinished(() => cache.close());
  cache.addFeed(
    createNativeFileFeed({
      directory,
      registry: envoyRegistry(),
      onProblem: (name, problem) => problems.push(problem?.message ?? `${name} is mended`),
      ...options,
    }),
  );
  return {
    cache,
    problems,
    watch(name, typeUrl = clusterType) {
      const topic = cache.topic(typeUrl, { name });
      const watcher = { wake: () => undefined };
      topic.watch(watcher);
      const held = (): string =>
        topic
          .members()
          .flatMap(({ name: member, resource }) =>
            resource === undefined
              ? []
              : [
                  `${member.slice(member.lastIndexOf("/") + 1)}=${secondsOf(resource.payload.value)}`,
                ],
          )
          .sort()
          .join(" ");
      return {
        topic,
        held,
        until: async (expected) => waitFor(() => held() === expected),
        close: () => {
          topic.unwatch(watcher);
        },
      };
    },
  };
}

function secondsOf(value: Uint8Array): number {
  return Number(fromBinary(ClusterSchema, value).connectTimeout?.seconds ?? -1n);
}

const cluster = (seconds: number, more = ""): string =>
  `${more}resource:\n  "@type": ${clusterType}\n  name: web\n  connect_timeout: ${seconds}s\n`;

const short = "envoy.config.cluster.v3.Cluster";

/** One resource in each spelling, by the name of the file. */
const spellings: readonly (readonly [string, string | Uint8Array])[] = [
  ["plain.yaml", cluster(3)],
  ["text-name.yaml", cluster(3, "name: any\nversion: v1\n")],
  ["object-name.yaml", cluster(3, "name: { authority: a, id: any }\n")],
  ["short-type.yaml", `resource: { "@type": ${short}, name: web, connect_timeout: 3s }\n`],
  ["other-prefix.yaml", `resource: { "@type": x.example/${short}, connect_timeout: 3s }\n`],
  ["json.json", JSON.stringify({ resource: { "@type": clusterType, connectTimeout: "3s" } })],
  ["no-extension", JSON.stringify({ resource: { "@type": clusterType, connectTimeout: "3s" } })],
  ["text.pb_text", `resource { [${clusterType}] { connect_timeout { seconds: 3 } } }`],
  [
    "binary.pb",
    toBinary(
      ResourceSchema,
      create(ResourceSchema, {
        resource: anyPack(
          ClusterSchema,
          create(ClusterSchema, { connectTimeout: { seconds: 3n } }),
        ),
      }),
    ),
  ],
];

describe("createNativeFileFeed()", () => {
  it.each(spellings)(
    "reads the one resource of a file in each form and spelling: %s [C-NFILE-1] [C-NFILE-2]",
    async (file, content) => {
      const { dir, write } = useDirectory();
      write(file, content);
      await useFeed(dir).watch(`file://${dir}/${file}`).until(`${file}=3`);
    },
  );

  it("decodes the name, and keeps the spelling of the subscriber [C-NFILE-1]", async () => {
    const { dir, write } = useDirectory();
    write("a b%.yaml", cluster(3));
    const { topic, until } = useFeed(dir).watch(`file://${dir}/a%20b%25.yaml`);
    await until("a%20b%25.yaml=3");
    expect(topic.members()[0]?.name).toBe(`file://${dir}/a%20b%25.yaml`);
  });

  it("keeps its state if the type changes, and says which one is expected [C-NFILE-3]", async () => {
    const { dir, replace } = useDirectory();
    replace("web.yaml", cluster(1));
    const { watch } = useFeed(dir);
    const { topic, until, held } = watch(`file://${dir}/web.yaml`);
    await until("web.yaml=1");
    replace("web.yaml", `resource: { "@type": ${endpointType}, cluster_name: web }\n`);
    await waitFor(() => topic.stale !== undefined);
    expect(topic.stale?.message).toBe(
      `[INVALID_ARGUMENT] file://${dir}/web.yaml holds a ${endpointType}, but ${clusterType} is expected`,
    );
    expect(held()).toBe("web.yaml=1");
    replace("web.yaml", cluster(2));
    await until("web.yaml=2");
    await waitFor(() => topic.stale === undefined);
  });

  it("derives the version from the content, and takes an edit that keeps a stated version [C-NFILE-4]", async () => {
    const { dir, replace } = useDirectory();
    const { cache, watch } = useFeed(dir);
    const version = (topic: Topic): string => topic.members()[0]?.resource?.version ?? "";
    replace("web.yaml", cluster(1));
    const web = watch(`file://${dir}/web.yaml`);
    await web.until("web.yaml=1");
    const first = version(web.topic);
    replace("web.yaml", cluster(2));
    await web.until("web.yaml=2");
    expect(version(web.topic)).not.toBe(first);
    replace("web.yaml", cluster(1));
    await web.until("web.yaml=1");
    expect(version(web.topic)).toBe(first);
    replace("stated.yaml", cluster(1, "version: v1\n"));
    const stated = watch(`file://${dir}/stated.yaml`);
    await stated.until("stated.yaml=1");
    expect(version(stated.topic)).toBe("v1");
    const { reusedVersions } = cache.counters;
    replace("stated.yaml", cluster(2, "version: v1\n"));
    await stated.until("stated.yaml=2");
    expect(cache.counters.reusedVersions).toBe(reusedVersions + 1);
  });

  it("has each regular file of a directory as a member, and neither hidden nor temporary ones [C-NFILE-5] [N-57]", async () => {
    const { dir, write, replace, remove, rename, link } = useDirectory();
    write("d/a.yaml", cluster(1));
    write("d/.hidden.yaml", cluster(9));
    write("d/b.yaml~", cluster(9));
    write("d/c.yaml.tmp", cluster(9));
    write("d/sub/deep.yaml", cluster(9));
    write("elsewhere.yaml", cluster(4));
    link("d/link.yaml", `${dir}/elsewhere.yaml`);
    link("d/folder.yaml", `${dir}/d/sub`);
    const { topic, until } = useFeed(dir).watch(`file://${dir}/d/*`);
    await until("a.yaml=1 link.yaml=4");
    await waitFor(() => topic.settled);
    replace("d/b.yaml", cluster(2));
    await until("a.yaml=1 b.yaml=2 link.yaml=4");
    rename("d/a.yaml", "d/z.yaml");
    await until("b.yaml=2 link.yaml=4 z.yaml=1");
    remove("d/b.yaml");
    replace("elsewhere.yaml", cluster(5));
    await until("link.yaml=5 z.yaml=1");
    expect(topic.members().map(({ name }) => name.startsWith(`file://${dir}/d/`))).toEqual([
      true,
      true,
    ]);
  });

  it("keeps a member that is broken, says so, and takes the others; an empty directory has none [C-NFILE-5] [C-NFILE-8]", async () => {
    const { dir, write, replace, remove } = useDirectory();
    write("d/a.yaml", cluster(1));
    const { watch, problems } = useFeed(dir);
    const { topic, until } = watch(`file://${dir}/d/*`);
    await until("a.yaml=1");
    replace("d/a.yaml", cluster(2, "conect: 1\n"));
    replace("d/b.yaml", cluster(3));
    await until("a.yaml=1 b.yaml=3");
    await waitFor(() => topic.stale !== undefined);
    expect(problems[0]).toBe(
      `[INVALID_ARGUMENT] ${dir}/d/a.yaml:1:1: key "conect" is unknown (a file that a file:// name leads to has name, version, resource; write the fields of the message below resource)`,
    );
    // The next comparison of the files does not forget it.
    replace("d/b.yaml", cluster(4));
    await until("a.yaml=1 b.yaml=4");
    expect(topic.stale?.text).toContain("conect");
    replace("d/a.yaml", cluster(5));
    await until("a.yaml=5 b.yaml=4");
    await waitFor(() => topic.stale === undefined);
    remove("d/a.yaml");
    remove("d/b.yaml");
    await until("");
    expect(topic.settled).toBe(true);
  });

  it("picks an inline entry of a list, and says if there is none [C-NFILE-6]", async () => {
    const { dir, replace } = useDirectory();
    const list = (...names: readonly string[]): string =>
      `resource:\n  "@type": ${clusterType}Collection\n  entries:\n${names
        .map(
          (name, at) =>
            `  - inline_entry: { name: ${name}, version: v${at}, resource: { "@type": ${clusterType}, connect_timeout: ${at + 1}s } }\n`,
        )
        .join("")}`;
    replace("list.yaml", list("a", "b"));
    const { watch } = useFeed(dir);
    const entry = watch(`file://${dir}/list.yaml#entry=b`);
    await entry.until("list.yaml#entry=b=2");
    expect(entry.topic.members()[0]?.resource?.version).toBe("v1");
    const whole = watch(`file://${dir}/list.yaml`, `${clusterType}Collection`);
    await waitFor(() => whole.topic.members()[0]?.resource !== undefined);
    const none = watch(`file://${dir}/list.yaml#entry=c`);
    await waitFor(() => none.topic.stale !== undefined);
    expect(none.topic.stale?.message).toContain('the list has no inline entry "c"');
    replace("list.yaml", list("c", "d", "b"));
    await none.until("list.yaml#entry=c=1");
    await entry.until("list.yaml#entry=b=3");
  });

  it("reads the list that the documentation has for Envoy: in a file, and inline [B-LIST-12] [C-NFILE-6]", async () => {
    const page = readFileSync(new URL("../../../../docs/HOW-DO-I.md", import.meta.url), "utf8");
    const [section = ""] = page.split("### Give Envoy a list of listeners in one file").slice(1);
    const [, list = ""] = [...section.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text);
    const { dir, replace } = useDirectory();
    replace("listeners.yaml", list);
    const type = "type.googleapis.com/envoy.config.listener.v3.Listener";
    const { topic } = useFeed(dir).watch(`file://${dir}/listeners.yaml#entry=web`, type);
    await waitFor(() => topic.members()[0]?.resource !== undefined);
    expect(topic.members()[0]?.resource?.payload.typeUrl).toBe(type);
    expect(list).not.toContain("locator");
  });

  it.each([
    ["../secret.yaml", "leads out of"],
    ["../nothing.yaml", "leads out of"],
    ["%2e%2e/secret.yaml", "leads out of"],
    ["d/../../secret.yaml", "leads out of"],
    ["linked.yaml", "leads out of"],
    ["linked/secret.yaml", "leads out of"],
    ["linked/*", "leads out of"],
    ["web.yaml#alt=file:///x", "a file has no alternatives"],
    ["a%00b", "it has a NUL"],
  ])(
    "rejects %s, which leads out of the directory or is not a name [C-NFILE-7]",
    async (path, reason) => {
      const { dir, write, link } = useDirectory();
      write("outer/secret.yaml", cluster(1));
      write("secret.yaml", cluster(1));
      write("inner/web.yaml", cluster(1));
      link("inner/linked.yaml", "../outer/secret.yaml");
      link("inner/linked", "../outer");
      const { topic, held } = useFeed(`${dir}/inner`).watch(`file://${dir}/inner/${path}`);
      await waitFor(() => topic.stale !== undefined);
      expect(topic.stale?.text).toContain(reason);
      expect(held()).toBe("");
    },
  );

  it("follows the links of a volume of Kubernetes, and a directory that is reached by a link [C-NFILE-7] [C-NFILE-8]", async () => {
    const { dir, write, link, rename } = useDirectory();
    write("real/..1/web.yaml", cluster(1));
    write("real/..2/web.yaml", cluster(2));
    link("real/..data", "..1");
    link("real/web.yaml", "..data/web.yaml");
    link("mount", "real");
    const { until } = useFeed(`${dir}/mount`).watch(`file://${dir}/mount/web.yaml`);
    await until("web.yaml=1");
    link("real/..tmp", "..2");
    rename("real/..tmp", "real/..data");
    await until("web.yaml=2");
  });

  it("keeps the last state of a file that is deleted or broken, and goes on when it is back [C-NFILE-8]", async () => {
    const { dir, replace, remove } = useDirectory();
    replace("web.yaml", cluster(1));
    const { topic, until, held } = useFeed(dir).watch(`file://${dir}/web.yaml`);
    await until("web.yaml=1");
    remove("web.yaml");
    await waitFor(() => topic.stale?.code === "NOT_FOUND");
    expect(held()).toBe("web.yaml=1");
    replace("web.yaml", "{ broken");
    await waitFor(() => topic.stale?.code === "INVALID_ARGUMENT");
    expect(held()).toBe("web.yaml=1");
    replace("web.yaml", cluster(2));
    await until("web.yaml=2");
    await waitFor(() => topic.stale === undefined);
  });

  it("waits for a file that does not exist, concludes after 15 s that it does not, and takes it later [C-NFILE-8]", async () => {
    const { dir, replace } = useDirectory();
    const clock = createFakeClock();
    const { topic, held } = useFeed(dir, { clock }).watch(`file://${dir}/d/web.yaml`);
    const tick = async (ms: number): Promise<void> => {
      clock.advance(ms);
      for (let turn = 0; turn < 50; turn++)
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
    };
    await waitFor(() => clock.pending > 1);
    for (let at = 0; at < 14; at++) await tick(1_000);
    expect(topic.settled).toBe(false);
    await waitFor(() => {
      void tick(500);
      return topic.settled;
    });
    expect(held()).toBe("");
    replace("d/web.yaml", cluster(1));
    await waitFor(() => {
      void tick(500);
      return held() === "web.yaml=1";
    });
  });

  it("reads no more of a name that is no longer subscribed, and begins again for the next subscriber", async () => {
    const { dir, replace } = useDirectory();
    replace("web.yaml", cluster(1));
    const { watch } = useFeed(dir);
    const first = watch(`file://${dir}/web.yaml`);
    await first.until("web.yaml=1");
    first.close();
    replace("web.yaml", cluster(2));
    const second = watch(`file://${dir}/web.yaml`);
    await second.until("web.yaml=2");
  });

  it("takes a burst of a thousand files as few transactions", async () => {
    const { dir, write } = useDirectory();
    const { cache, watch } = useFeed(dir);
    write("d/first.yaml", cluster(1));
    const { topic, until } = watch(`file://${dir}/d/*`);
    await until("first.yaml=1");
    const before = cache.revision;
    for (let at = 0; at < 1_000; at++) write(`d/n${at}.yaml`, cluster(1));
    await waitFor(() => topic.members().length === 1_001);
    expect(cache.revision - before).toBeLessThan(30);
  });
});
