import { createCache } from "@xdstp/cache";
import { concatBytes, decodeText, lengthDelimited, walkFields } from "@xdstp/core/wire";
import { createClientContext } from "@xdstp/protocol/client";
import { createServerContext } from "@xdstp/protocol/server";
import { createDeltaClient } from "@xdstp/transport-delta/client";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwClient } from "@xdstp/transport-sotw/client";
import { createSotwServer } from "@xdstp/transport-sotw/server";

const typeUrl = "type.googleapis.com/acme.v1.Flag";
const types = [{ typeUrl, nameField: 1 }];
const name = "größe 😀";

/** Returns an encoded message with the name in its field 1, and a text in its field 2. */
function flag(text: string): Uint8Array {
  return concatBytes([lengthDelimited(1, name), lengthDelimited(2, text)]);
}

/** Returns the text of an encoded flag. */
function textOf(flag: Uint8Array): string {
  let text = "";
  walkFields(flag, (field, start, end) => {
    if (field === 2) text = decodeText(flag, start, end);
    return undefined;
  });
  return text;
}

/** The variants, each with both of its ends. */
const variants = {
  delta: [createDeltaServer, createDeltaClient],
  sotw: [createSotwServer, createSotwClient],
} as const;

/**
 * Lets a client follow two changes of a server in memory, over one variant.
 * @returns the version and the text that the client has after each change
 */
export async function exchange(variant: keyof typeof variants): Promise<readonly string[]> {
  const [createServer, createClient] = variants[variant];
  const origin = createCache({ types });
  const server = createServer(createServerContext({ source: origin }));
  const client = createCache({ types });
  client.addFeed(
    createClient(
      createClientContext({
        node: Uint8Array.of(0x0a, 2, 0x6d, 0x65),
        connect(receiver) {
          const stream = server.open(
            { peer: "memory" },
            {
              send({ bytes }) {
                receiver.onMessage(bytes);
                return true;
              },
              close: (status) => {
                receiver.onClosed(status);
              },
            },
          );
          return {
            send({ bytes }) {
              stream.onMessage(bytes);
              return true;
            },
            close: (status) => {
              stream.onClosed(status);
              receiver.onClosed(status);
            },
          };
        },
      }),
    ),
  );
  const topic = client.topic(typeUrl, { name });
  const held: string[] = [];
  const texts = ["one", "two 😀"];
  const putNext = (): void => {
    origin.put({ typeUrl, name, value: flag(texts[held.length] ?? "") });
  };
  putNext();
  return new Promise((resolve) => {
    topic.watch({
      wake() {
        const resource = topic.get(name)?.resource;
        if (resource === undefined) return;
        const text = textOf(resource.payload.value);
        if (texts[held.length] !== text) return;
        held.push(`${resource.version} ${text}`);
        if (held.length < texts.length) putNext();
        else resolve(client.close().then(() => held));
      },
    });
  });
}
