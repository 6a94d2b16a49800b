import { cp, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startFlagServer } from "./flag-server.ts";
import { flagsOfPage } from "./page-flags.ts";
import { type FlagReader, watchFlags } from "./watch-flags.ts";

const cart = "new-cart";

/** A feature is given to more and more users; one edit breaks a rule, and one is not understood by an old process. */
export async function runTour(say: (line: string) => void): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), "xdstp-example-flags-"));
  try {
    await cp(join(import.meta.dirname, "config"), dir, { recursive: true });
    const edit = async (text: string): Promise<void> => {
      say(`-- ${cart}.yaml: ${text.trim().replaceAll("\n", ", ")}`);
      const file = join(dir, `flags.example/flags.v1.Flag/checkout/${cart}.yaml`);
      await writeFile(`${file}.tmp`, text);
      await rename(`${file}.tmp`, file);
    };
    await using server = await startFlagServer(dir);
    await using old = watchFlags(server.uri, "web-1", ["staff"]);
    await using fresh = watchFlags(server.uri, "web-2", ["staff", "beta"]);
    const both = [old, fresh];
    const show = (): void => {
      say(
        `new cart for ${String(usersOf(old))} of 1000 users in web-1, ${String(usersOf(fresh))} in web-2`,
      );
    };
    const untilPercent = (readers: readonly FlagReader[], percent: number): Promise<unknown> =>
      Promise.all(readers.map((reader) => reader.until(cart, (flag) => flag.percent === percent)));

    await untilPercent(both, 10);
    show();
    await edit('"on": true\npercent: 25\n');
    await untilPercent(both, 25);
    show();
    await edit('"on": true\npercent: 250\n');
    say(await server.nextComplaint());
    show();
    await edit('"on": true\npercent: 50\ngroups: [beta]\n');
    await untilPercent([fresh], 50);
    await server.nextComplaint();
    for (const line of server.rejections()) say(line);
    show();
    const page = await flagsOfPage(`http://${server.uri}`, { id: "user-0", groups: ["beta"] });
    say(
      `new cart for a user of the group beta in a page: ${page.get(cart) === true ? "on" : "off"}`,
    );
    await edit('"on": false\n');
    await untilPercent(both, 0);
    show();
    await server.accepted();
    say(`processes that reject a flag: ${String(server.rejections().length)}`);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** Of a thousand users, one in a hundred is in the group `beta`. */
function usersOf(reader: FlagReader): number {
  const users = Array.from({ length: 1000 }, (_, at) => ({
    id: `user-${String(at)}`,
    groups: at % 100 === 0 ? ["beta"] : [],
  }));
  return users.filter((user) => reader.isOn(cart, user)).length;
}
